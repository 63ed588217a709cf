import { createLimiter, memoryStore, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { deferred } from '../support/promises.ts';
import { accountLimits, atOnce, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../support/thrown.ts';
import { callsOf } from '@sluice/core/testing';

const numbers = { Orders: { count: 5, period: '1s' } };
const orders = [{ limit: 'Orders', id: '7' }];

/** A store that answers later, and says what it was asked. */
function lateStore() {
  const inner = memoryStore();
  const calls: string[] = [];
  const later = async <T>(name: string, answer: () => T): Promise<T> => {
    await Promise.resolve();
    calls.push(name);
    return answer();
  };
  const store: Store = {
    guard: storeGuard,
    run: (operation) => later(operation.kind, () => inner.run(operation)),
    close: () => later('close', () => inner.close()),
  };
  return { store, calls };
}

describe('close', () => {
  test('leaves a given store open for other limiters', () => {
    const { limiter, store } = limiterOnFakeTime(numbers);
    void limiter.close();
    expect(store.stats().size).toBe(0);
  });

  test('closes a store that the limiter made for itself', () => {
    const limiter = createLimiter({ limits: accountLimits(numbers) });
    void limiter.close();
    expect(thrown(() => atOnce(callsOf(limiter.store).spend([]))).code).toBe('ERR_CLOSED');
  });

  test('with { store: true } closes a store that was given too: one that was made inline has no other owner', () => {
    const limiter = createLimiter({ limits: accountLimits(numbers), store: memoryStore() });
    void limiter.close({ store: true });
    expect(thrown(() => atOnce(callsOf(limiter.store).spend([]))).code).toBe('ERR_CLOSED');
  });

  test('with { store: true } waits until the store is closed', async () => {
    const { store, calls } = lateStore();
    await createLimiter({ limits: accountLimits(numbers), store }).close({ store: true });
    expect(calls).toEqual(['close']);
  });

  test('with { store: true } hands on what the store’s close rejects with', async () => {
    const store = { ...lateStore().store, close: () => Promise.reject(new Error('could not close')) };
    const limiter = createLimiter({ limits: accountLimits(numbers), store });
    await expect(limiter.close({ store: true })).rejects.toThrow('could not close');
  });

  test('with { store: true } leaves a store open that another limiter uses: the last one closes it', () => {
    const store = memoryStore();
    const on = (name: string) => createLimiter({ limits: accountLimits({ [name]: numbers.Orders }), store });
    const [one, other] = [on('One'), on('Other')];
    void one.close({ store: true });
    expect(other.spendSync([{ limit: 'Other', id: '7' }]).allowed).toBe(true);
    void other.close({ store: true });
    expect(thrown(() => atOnce(callsOf(store).spend([]))).code).toBe('ERR_CLOSED');
  });

  test('again with { store: true } closes the store that the first close left open', () => {
    const { limiter, store } = limiterOnFakeTime(numbers);
    void limiter.close();
    void limiter.close({ store: true });
    expect(thrown(() => atOnce(callsOf(store).spend([]))).code).toBe('ERR_CLOSED');
  });

  test.each<[what: string, options: unknown, code: string, message: string]>([
    ['a boolean', true, 'ERR_OPTION', '`close` must be an object, but was true.'],
    ['another option', { stores: true }, 'ERR_UNKNOWN_OPTION', 'Did you mean `store`?'],
    ['a store', { store: memoryStore() }, 'ERR_OPTION', '`close.store` must be true or false'],
  ])('rejects %s, and stays open', async (_, options, code, message) => {
    const { limiter } = limiterOnFakeTime(numbers);
    const error = await rejected(() => limiter.close(options as never));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(limiter.spendSync(orders).allowed).toBe(true);
  });

  test('waits until refunds, charges and settlements have reached the store', async () => {
    const { store, calls } = lateStore();
    const events: unknown[] = [];
    const onEvent = (event: unknown): void => void events.push(event);
    const limiter = createLimiter({ limits: accountLimits(numbers), store, log: false, onEvent });
    const decision = await limiter.spend(orders);
    const settled = await limiter.spend([{ limit: 'Orders', id: '8', cost: 3 }]);
    const cost = deferred<number>();
    const settling = async () =>
      coreOf(limiter).settleResult(settled, settled.results.at(0)!, { cost: await cost.promise });
    const work = [limiter.refund(decision), limiter.charge(orders), coreOf(limiter).trackWork(settling())];
    const closed = limiter.close({ store: true });
    cost.resolve(1);
    await closed;
    expect(calls.filter((name) => name !== 'spend')).toEqual(['refund', 'charge', 'refund', 'close']);
    await Promise.all(work);
    expect(events).toEqual([]);
  });

  test('with { store: true } leaves a store open that another limiter uses, even one without limits', () => {
    const store = memoryStore();
    const one = createLimiter({ limits: accountLimits(numbers), store });
    const other = createLimiter({ limits: {}, store });
    void one.close({ store: true });
    expect(other.spendSync([]).allowed).toBe(true);
    other.replace({ limits: accountLimits(numbers) });
    expect(other.spendSync(orders).allowed).toBe(true);
    void other.close({ store: true });
    expect(thrown(() => atOnce(callsOf(store).spend([]))).code).toBe('ERR_CLOSED');
  });

  test('rejects replace from its beginning: the store is closed and the names are free when it ends', async () => {
    const { store, calls } = lateStore();
    const limiter = createLimiter({ limits: accountLimits(numbers), store, log: false });
    const charge = limiter.charge(orders);
    const closed = limiter.close({ store: true });
    expect(thrown(() => limiter.replace({ limits: accountLimits(numbers) })).code).toBe('ERR_CLOSED');
    await Promise.all([charge, closed]);
    expect(calls).toEqual(['charge', 'close']);
    expect(() => createLimiter({ limits: accountLimits(numbers), store })).not.toThrow();
  });

  test('is not put off by work that failed', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const failing = coreOf(limiter).trackWork(Promise.reject(new Error('no cost')));
    await limiter.close();
    await expect(failing).rejects.toThrow('no cost');
    expect(thrown(() => limiter.spendSync(orders)).code).toBe('ERR_CLOSED');
  });
});
