import { describe, expect, test } from 'vitest';
import { deferred, settled } from '../support/promises.ts';
import { guarded, transaction } from './support/guarded.ts';
import { answersAtOnce, hangs, throws } from './support/scripted-store.ts';

const open = transaction({ limit: 'Open', onFailure: 'open' });

describe.each([
  ['a store whose deadline the guard keeps', {}],
  ['a store that keeps the deadline itself', { keepsDeadline: true }],
] as const)('close, with %s,', (_, traits) => {
  test('answers what still waits by policy, at once', async () => {
    const { guard, store, time } = guarded(hangs, {}, traits);
    const closed = { limit: 'Closed', onFailure: 'closed' } as const;
    const rulings = [guard.spend([transaction()]), guard.spend([open]), guard.check([transaction(closed)])];
    const others = [guard.charge([transaction()]), guard.refund(store, [transaction()])];
    guard.close();
    expect(time.pending).toBe(0);
    const cause = { code: 'ERR_STORE_UNAVAILABLE', message: 'The limiter was closed before the store had answered.' };
    expect(await Promise.all(rulings)).toMatchObject([
      { failure: { policy: 'local', cause } },
      { failure: { policy: 'open', cause } },
      { failure: { policy: 'closed', cause } },
    ]);
    expect(await Promise.all(others)).toMatchObject([{ batch: [{ limit: 'Orders' }] }, { batch: [] }]);
  });

  test('does not count as a failure of the store', async () => {
    const { guard, events } = guarded(hangs, {}, traits);
    const rulings = Array.from({ length: 5 }, () => guard.spend([open]));
    guard.close();
    await Promise.all(rulings);
    expect(guard.status()).toMatchObject({ state: 'up', lastFailure: undefined });
    expect(events).toEqual([]);
  });

  test('leaves no unhandled rejection when the store rejects afterwards', async () => {
    const { guard, store } = guarded(hangs, {}, traits);
    const answer = deferred<unknown>();
    store.behaviour = () => answer.promise;
    const batchAnswer = guard.spend([open]);
    guard.close();
    answer.reject(new Error('connection closed'));
    await settled();
    expect((await batchAnswer).failure?.cause).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  });

  test('reports losses that were not reported yet', async () => {
    const { guard, store, events } = guarded(throws(new Error('down')), {}, traits);
    for (let i = 0; i < 3; i++) await guard.refund(store, [open]);
    guard.close();
    expect(events).toMatchObject([{ count: 1 }, { type: 'store-failing' }, { type: 'refund-lost', count: 2 }]);
  });

  test('leaves the store alone: that is its limiter’s business', () => {
    const { guard, store } = guarded(answersAtOnce, {}, traits);
    guard.close();
    expect(store.calls).toEqual([]);
  });

  test('may be called again and does nothing then', () => {
    const { guard, store, events } = guarded(throws(new Error('down')), {}, traits);
    void guard.refund(store, [open]);
    guard.close();
    guard.close();
    expect(events).toHaveLength(1);
  });
});

test('after close every call is the error ERR_CLOSED, and the store is not called', () => {
  const { guard, store } = guarded(answersAtOnce);
  guard.close();
  const local = guarded(answersAtOnce).store;
  const calls = [
    () => guard.spend([open]),
    () => guard.check([]),
    () => guard.charge([open]),
    () => guard.refund(store, [open]),
    () => guard.refund(local, [open]),
    () => guard.reset([open]),
  ];
  for (const call of calls) expect(call).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
  expect([store.calls, local.calls]).toEqual([[], []]);
});
