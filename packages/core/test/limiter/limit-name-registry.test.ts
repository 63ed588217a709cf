import {
  accountId,
  createLimiter,
  everyone,
  ipAddress,
  memoryStore,
  type Limits,
  type Limiter,
  type LimiterEvent,
  type Store,
} from '@sluice/core';
import { loadFrom } from '@sluice/core/load';
import { storeGuard } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { isStoreInUse } from '../../src/limiter/limit-name-registry.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';
import { limitOf } from '../support/limit-of.ts';

type Options = Readonly<Record<string, object>>;

function made(limits: Options): Limits {
  return Object.fromEntries(Object.entries(limits).map(([name, options]) => [name, limitOf(options)]));
}

const named = (...names: string[]) =>
  accountLimits(Object.fromEntries(names.map((name) => [name, { count: 5, period: '1s' }])));

/** Limits of accounts with other numbers than those of `named`. */
const renumbered = (...names: string[]) =>
  accountLimits(Object.fromEntries(names.map((name) => [name, { count: 7, period: '1s' }])));

describe('the names of limits on one store', () => {
  test('are had by one limiter: another one may not have the same with other numbers', () => {
    const store = memoryStore();
    createLimiter({ limits: named('Orders', 'Reads'), store });
    const error = thrown(() => createLimiter({ limits: renumbered('Other', 'Reads'), store }));
    expect(error.code).toBe('ERR_LIMIT_IN_USE');
    expect(error.message).toMatch(
      /^Another limiter already uses the limit name "Reads" on this store, with other numbers: 5 per 1 s, burst 5, and here 7 per 1 s, burst 7\. It was made at .*limit-name-registry\.test\.ts:\d+:\d+\. Share that limiter, rename this limit, or close the other limiter first\. If this module was loaded again after a change of the numbers, restart the process\.$/,
    );
  });

  test('that were rejected together with one in use are free', () => {
    const store = memoryStore();
    createLimiter({ limits: named('Reads'), store });
    expect(() => createLimiter({ limits: renumbered('Other', 'Reads'), store })).toThrow('Reads');
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
    const make = (limits: typeof named) => createLimiter({ limits: limits('Orders'), store: memoryStore() });
    expect(() => [make(named), make(renumbered)]).not.toThrow();
  });

  test('are free again when their limiter is closed', async () => {
    const store = memoryStore();
    await createLimiter({ limits: named('Orders'), store }).close();
    expect(() => createLimiter({ limits: renumbered('Orders'), store })).not.toThrow();
  });

  test('are not taken away by closing a limiter twice', () => {
    const store = memoryStore();
    const first = createLimiter({ limits: named('Orders'), store });
    void first.close();
    createLimiter({ limits: named('Orders'), store });
    void first.close();
    expect(thrown(() => createLimiter({ limits: renumbered('Orders'), store })).code).toBe('ERR_LIMIT_IN_USE');
  });

  test('that replace releases are free, those it claims are not', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders', 'Reads'), store });
    limiter.replace({ limits: named('Reads', 'Writes') });
    expect(() => createLimiter({ limits: renumbered('Orders'), store })).not.toThrow();
    for (const name of ['Reads', 'Writes']) {
      expect(thrown(() => createLimiter({ limits: renumbered(name), store })).code).toBe('ERR_LIMIT_IN_USE');
    }
  });

  test('that another limiter has with other numbers are rejected by replace, which changes nothing', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders'), store });
    createLimiter({ limits: named('Reads'), store });
    expect(thrown(() => limiter.replace({ limits: renumbered('Writes', 'Reads') })).code).toBe('ERR_LIMIT_IN_USE');
    expect(limiter.spendSync([{ limit: 'Orders', id: '7' }]).allowed).toBe(true);
    expect(() => createLimiter({ limits: named('Writes'), store })).not.toThrow();
  });

  test('stay free after replace of a closed limiter', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: named('Orders'), store });
    void limiter.close();
    expect(thrown(() => limiter.replace({ limits: named('Orders') })).code).toBe('ERR_CLOSED');
    expect(() => createLimiter({ limits: renumbered('Orders'), store })).not.toThrow();
  });

  test('are free when nothing was claimed on the store', () => {
    const store = memoryStore();
    const limiter = createLimiter({ limits: {}, store });
    expect(async () => await limiter.close()).not.toThrow();
  });
});

describe('equal limits that are made again on one store', () => {
  const spent = (limiter: Limiter, limit = 'Orders') => limiter.spendSync([{ limit, id: '7' }]);

  test('share the buckets, and an event names both places', () => {
    const store = memoryStore();
    const events: LimiterEvent[] = [];
    const make = () =>
      createLimiter({ limits: named('Orders', 'Reads'), store, log: false, onEvent: (e) => events.push(e) });
    const other = createLimiter({ limits: named('Reads'), store, log: false });
    const [first, second] = [make(), make()];
    expect(spent(first).remaining).toBe(4);
    expect(spent(second).remaining).toBe(3);
    expect(spent(other, 'Reads').remaining).toBe(4);
    const here = expect.stringMatching(/^at .*limit-name-registry\.test\.ts:\d+:\d+$/);
    expect(events).toMatchObject([
      { type: 'limit-made-again', limits: ['Reads'], places: [here, here], once: true },
      { type: 'limit-made-again', limits: ['Orders', 'Reads'], places: [here, here], once: true },
    ]);
    expect(events.map(({ message }) => message.replaceAll(/\bat \/\S+/g, 'HERE'))).toEqual([
      'The limit Reads is made more than once on one store: first HERE again HERE The limiters share the buckets. ' +
        'That is right where a module is loaded again, or in several bundles. Otherwise share one limiter.',
      'The limits Orders, Reads are made more than once on one store, again HERE The limiters share the buckets. ' +
        'That is right where a module is loaded again, or in several bundles. Otherwise share one limiter.',
    ]);
  });

  test('are an event once for each pair of places, however often a module is loaded, and of at most 100 pairs', () => {
    const store = memoryStore();
    const events: string[] = [];
    const make = () =>
      createLimiter({ limits: named('Orders'), store, log: false, onEvent: ({ type }) => events.push(type) });
    for (let i = 0; i < 5; i++) make();
    expect(events).toEqual(['limit-made-again']);
    for (let i = 0; i < 120; i++) {
      const source = `${'\n'.repeat(i)}return make();`;
      // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- a place of its own each time
      new Function('createLimiter', 'options', source.replace('make()', 'createLimiter(options)'))(createLimiter, {
        limits: named('Orders'),
        store,
        log: false,
        onEvent: ({ type }: LimiterEvent) => events.push(type),
      });
    }
    expect(events).toHaveLength(100);
  });

  const numbers = { count: 5, period: '1s' } as const;
  const rate = { key: accountId(), ...numbers } as const;
  const quota = { key: accountId(), count: 5, per: 'day' } as const;
  const slots = { key: accountId(), concurrency: 5 } as const;
  const lent = { key: accountId(), count: 5, period: '1s', borrow: { from: 'Pool', ceiling: numbers } } as const;
  const pool = { key: everyone(), count: 50, period: '1s' } as const;
  const load = { load: loadFrom(() => 0) } as const;

  test.each<[string, Options, Options]>([
    ['a rate', { A: rate }, { A: { ...rate, burst: 5, period: 1000, key: accountId(() => 'x') } }],
    ['a rate without a debt', { A: rate }, { A: { ...rate, maxDebt: 0 } }],
    ['what only says how it is shown or fails', { A: rate }, { A: { ...rate, hidden: true, onFailure: 'closed' } }],
    ['a quota', { A: quota }, { A: { ...quota, timeZone: 'UTC', warnAt: [1] } }],
    [
      'a quota by the id',
      { A: { ...quota, anchor: () => '2026-01-01' } },
      { A: { ...quota, anchor: () => '2026-01-02' } },
    ],
    ['a concurrency limit', { A: slots }, { A: { ...slots, expiry: '10s' } }],
    ['a limit that borrows, and its pool', { A: lent, Pool: pool }, { A: { ...lent }, Pool: { ...pool } }],
    ['a load', { A: load }, { A: { load: loadFrom(() => 1) } }],
  ])('may be %s', (_what, limits, again) => {
    const store = memoryStore();
    createLimiter({ limits: made(limits), store, log: false });
    expect(() => createLimiter({ limits: made(again), store, log: false })).not.toThrow();
  });

  test.each<[string, Options, Options, RegExp]>([
    ['burst', { A: rate }, { A: { ...rate, burst: 6 } }, /5 per 1 s, burst 5, and here 5 per 1 s, burst 6/],
    ['count', { A: rate }, { A: { ...rate, count: 6, burst: 5 } }, /with other numbers/],
    ['period', { A: rate }, { A: { ...rate, period: '2s' } }, /with other numbers/],
    ['maxWait', { A: rate }, { A: { ...rate, maxWait: '1s' } }, /with other/],
    ['maxDebt', { A: rate }, { A: { ...rate, maxDebt: 1 } }, /with other/],
    ['overshoot', { A: rate }, { A: { ...rate, overshoot: 0.5 } }, /with other/],
    // Both shares of five tokens are less than one, but an override can have a larger burst.
    ['part of an overshoot', { A: { ...rate, overshoot: 0.1 } }, { A: { ...rate, overshoot: 0.15 } }, /with other/],
    ['format of ids', { A: rate }, { A: { ...rate, key: ipAddress() } }, /with other options or ids/],
    ['kind', { A: rate }, { A: quota }, /with other numbers/],
    ['period of a quota', { A: quota }, { A: { ...quota, per: 'week' } }, /with other numbers/],
    ['time zone', { A: quota }, { A: { ...quota, timeZone: 'Europe/Berlin' } }, /with other/],
    ['concurrency', { A: slots }, { A: { ...slots, concurrency: 6 } }, /with other numbers/],
    ['scope', { A: slots }, { A: { ...slots, scope: 'process' } }, /with other options/],
    ['pool', { A: lent, Pool: pool }, { Pool: pool }, /"Pool"/],
    ['ceiling', { A: lent, Pool: pool }, { 'A.ceiling': rate }, /"A.ceiling"/],
    [
      'share of the pool',
      { A: lent, Pool: pool },
      { A: { ...lent, borrow: { ...lent.borrow, tenants: 2 } }, Pool: pool },
      /"A"/,
    ],
  ])('may not have another %s', (_what, limits, other, message) => {
    const store = memoryStore();
    createLimiter({ limits: made(limits), store, log: false });
    const error = thrown(() => createLimiter({ limits: made(other), store, log: false }));
    expect(error.code).toBe('ERR_LIMIT_IN_USE');
    expect(error.message).toMatch(message);
  });

  test('may replace their numbers one after the other, and a third one may have those of either', () => {
    const store = memoryStore();
    const make = (limits: typeof named) => createLimiter({ limits: limits('Orders'), store, log: false });
    const twins = [make(named), make(named)] as const;
    twins[0].replace({ limits: renumbered('Orders') });
    expect(() => [make(named), make(renumbered)]).not.toThrow();
    twins[1].replace({ limits: renumbered('Orders') });
    expect(spent(twins[0]).remaining).toBe(6);
    expect(spent(twins[1]).remaining).toBe(5);
    expect(thrown(() => twins[0].replace({ limits: made({ Orders: quota }) })).code).toBe('ERR_LIMIT_IN_USE');
  });

  test('count the slots of the process together', async () => {
    const store = memoryStore();
    const limits = { InFlight: { ...slots, concurrency: 2, scope: 'process' } } as const;
    const [first, second] = [0, 1].map(() => createLimiter({ limits: made(limits), store, log: false })) as [
      Limiter,
      Limiter,
    ];
    const hold = (limiter: Limiter) => limiter.spend([{ limit: 'InFlight', id: '7' }], { hold: true });
    const held = [await hold(first), await hold(second)];
    expect((await hold(second)).allowed).toBe(false);
    await held[0]!.release();
    expect((await hold(second)).allowed).toBe(true);
  });

  test('share the local buckets while the store can not answer', async () => {
    const store: Store = { guard: storeGuard, run: () => Promise.reject(new Error('gone')), close: () => {} };
    const make = () => createLimiter({ limits: named('Orders'), store, log: false });
    const limiters = [make(), make()];
    const outcomes: boolean[] = [];
    for (let i = 0; i < 8; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      outcomes.push((await limiters[i % 2]!.spend([{ limit: 'Orders', id: '7' }])).allowed);
    }
    expect(outcomes.filter(Boolean)).toHaveLength(5);
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
