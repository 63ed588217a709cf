import { describe, expect, test } from 'vitest';
import { guarded, transaction } from './support/guarded.ts';
import { answersAtOnce, answersSoon, reading, throws } from './support/scripted-store.ts';

describe('a store that answers at once', () => {
  test('is passed straight through: a value, no promise and no timer', () => {
    const { guard, store, time } = guarded(answersAtOnce);
    const batch = [transaction()];
    const expected = { batch, ...reading(batch), origin: { owner: guard.owner, store, failure: undefined } };
    expect(guard.spend(batch)).toMatchObject(expected);
    expect(guard.check(batch)).toMatchObject(expected);
    expect(guard.charge(batch)).toEqual({ batch, reading: reading(batch), store });
    expect(guard.refund(store, batch)).toEqual({ batch, reading: reading(batch), store });
    expect(guard.reset(batch)).toBeUndefined();
    expect(time.pending).toBe(0);
    expect(store.calls.map(({ name }) => name)).toEqual(['spend', 'check', 'charge', 'refund', 'reset']);
  });

  test('costs one look at the clock, when it has answered', () => {
    const { guard, time } = guarded(answersAtOnce);
    time.reads = 0;
    void guard.spend([transaction()]);
    void guard.check([transaction()]);
    expect(time.reads).toBe(2);
  });

  test('gets the batch itself, not a copy', () => {
    const { guard, store } = guarded(answersAtOnce);
    const batch = [transaction()];
    void guard.spend(batch);
    expect(store.calls[0]?.batch).toBe(batch);
  });
});

describe('a store that answers by a promise', () => {
  test('decides, and leaves no timer behind', async () => {
    const { guard, store, time } = guarded(answersSoon);
    const batch = [transaction()];
    const expected = { batch, ...reading(batch), origin: { owner: guard.owner, store, failure: undefined } };
    expect(await guard.spend(batch)).toMatchObject(expected);
    expect(time.pending).toBe(0);
  });

  test('may be built on any kind of promise', async () => {
    // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
    const { guard } = guarded((batch) => ({ then: (resolve: (value: unknown) => void) => resolve(reading(batch)) }));
    expect(await guard.spend([transaction()])).toMatchObject({ outcome: 'allowed', failure: undefined });
  });
});

test('a promise whose own `then` throws is a failure of the store, which the policy answers once', async () => {
  const { guard, time } = guarded((batch) => {
    const answer = Promise.resolve(reading(batch));
    const throwing = (): never => {
      throw new Error('from then');
    };
    // oxlint-disable-next-line unicorn/no-thenable -- this is what is tested
    return Object.defineProperty(answer, 'then', { value: throwing });
  });
  const batchAnswer = await guard.spend([transaction()]);
  expect(batchAnswer.failure).toMatchObject({ cause: new Error('from then') });
  await time.pass(1000);
  expect(guard.status().decidedByPolicy).toBe(1);
});

test('every call to the store gets the deadline of the caller', () => {
  const { guard, store } = guarded(answersAtOnce, { deadlineMs: 70 });
  const batch = [transaction()];
  void [guard.spend(batch), guard.check(batch), guard.charge(batch), guard.refund(store, batch), guard.reset(batch)];
  expect(store.calls.map(({ deadlineMs }) => deadlineMs)).toEqual([70, 70, 70, 70, 70]);
});

test('an empty call neither calls the store nor fails', () => {
  const { guard, store } = guarded(throws(new Error('down')));
  expect(guard.spend([])).toMatchObject({
    outcome: 'allowed',
    batch: [],
    levelsTicks: [],
    failure: undefined,
  });
  expect(guard.check([])).toMatchObject({ outcome: 'allowed', batch: [], failure: undefined });
  expect(guard.charge([])).toMatchObject({ batch: [] });
  expect(guard.refund(store, [])).toMatchObject({ batch: [] });
  expect(guard.reset([])).toBeUndefined();
  expect(store.calls).toEqual([]);
});
