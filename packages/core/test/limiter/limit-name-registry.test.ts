import { createLimiter, memoryStore, type Store } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { isStoreInUse } from '../../src/limiter/limit-name-registry.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const named = (...names: string[]) =>
  accountLimits(Object.fromEntries(names.map((name) => [name, { count: 5, period: '1s' }])));

describe('the names of limits on one store', () => {
  test('are had by one limiter: another one may not have the same', () => {
    const store = memoryStore();
    createLimiter({ limits: named('Orders', 'Reads'), store });
    expect(thrown(() => createLimiter({ limits: named('Other', 'Reads'), store }))).toMatchObject({
      code: 'ERR_LIMIT_IN_USE',
      message:
        'Another limiter already uses the limit name "Reads" on this store. Share that limiter, rename this limit, or close the other limiter first.',
    });
  });

  test('that were rejected together with one in use are free', () => {
    const store = memoryStore();
    createLimiter({ limits: named('Reads'), store });
    expect(() => createLimiter({ limits: named('Other', 'Reads'), store })).toThrow('Reads');
    expect(() => createLimiter({ limits: named('Other'), store })).not.toThrow();
  });

  test('are free when their limiter could not be made because the store can not be watched', () => {
    const store = Object.assign(Object.create(memoryStore()) as Store, {
      watch: () => {
        throw new Error('not yet');
      },
    });
    expect(() => createLimiter({ limits: named('Orders'), store })).toThrow('not yet');
    expect(isStoreInUse(store)).toBe(false);
  });

  test('may be had on another store', () => {
    const make = () => createLimiter({ limits: named('Orders'), store: memoryStore() });
    expect(() => [make(), make()]).not.toThrow();
  });

  test('are free again when their limiter is closed', async () => {
    const store = memoryStore();
    await createLimiter({ limits: named('Orders'), store }).close();
    expect(() => createLimiter({ limits: named('Orders'), store })).not.toThrow();
  });

  test('are not taken away by closing a limiter twice', () => {
    const store = memoryStore();
    const first = createLimiter({ limits: named('Orders'), store });
    void first.close();
    createLimiter({ limits: named('Orders'), store });
    void first.close();
    expect(thrown(() => createLimiter({ limits: named('Orders'), store })).code).toBe('ERR_LIMIT_IN_USE');
  });

  test('that replace releases are free, those it claims are not', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders', 'Reads'), store });
    limiter.replace({ limits: named('Reads', 'Writes') });
    expect(() => createLimiter({ limits: named('Orders'), store })).not.toThrow();
    for (const name of ['Reads', 'Writes']) {
      expect(thrown(() => createLimiter({ limits: named(name), store })).code).toBe('ERR_LIMIT_IN_USE');
    }
  });

  test('that another limiter has are rejected by replace, which changes nothing', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders'), store });
    createLimiter({ limits: named('Reads'), store });
    expect(thrown(() => limiter.replace({ limits: named('Writes', 'Reads') })).code).toBe('ERR_LIMIT_IN_USE');
    expect(limiter.spendSync([{ limit: 'Orders', id: '7' }]).allowed).toBe(true);
    expect(() => createLimiter({ limits: named('Writes'), store })).not.toThrow();
  });

  test('stay free after replace of a closed limiter', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders'), store });
    void limiter.close();
    expect(thrown(() => limiter.replace({ limits: named('Orders') })).code).toBe('ERR_CLOSED');
    expect(() => createLimiter({ limits: named('Orders'), store })).not.toThrow();
  });

  test('are free when nothing was claimed on the store', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: {}, store });
    expect(async () => await limiter.close()).not.toThrow();
  });
});

test('a store is in use from the first limiter on it to the last', () => {
  const store = memoryStore();
  expect(isStoreInUse(store)).toBe(false);
  const limiters = ['One', 'Other'].map((name) => createLimiter({ limits: named(name), store }));
  for (const limiter of limiters) {
    expect(isStoreInUse(store)).toBe(true);
    void limiter.close();
  }
  expect(isStoreInUse(store)).toBe(false);
});
