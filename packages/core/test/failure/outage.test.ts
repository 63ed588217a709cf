import { describe, expect, test } from 'vitest';
import { SluiceError, type ErrorCode } from '../../src/checks/errors.ts';
import { uninspectable } from '../support/uninspectable.ts';
import { deferred, settled } from '../support/promises.ts';
import { guarded, transaction } from './support/guarded.ts';
import { answersSoon, hangs, reading, rejects, throws, type Behaviour } from './support/scripted-store.ts';

const down = new Error('connect ECONNREFUSED');

describe('a store that hangs', () => {
  test('is waited for until the deadline, then the policy decides', async () => {
    const { guard, time } = guarded(hangs);
    let batchAnswer: unknown;
    void Promise.resolve(guard.spend([transaction()])).then((value) => (batchAnswer = value));
    await time.pass(49);
    expect(batchAnswer).toBeUndefined();
    await time.pass(1);
    expect(batchAnswer).toMatchObject({
      outcome: 'allowed',
      failure: { policy: 'local', cause: { code: 'ERR_STORE_DEADLINE' } },
    });
    expect(time.pending).toBe(0);
  });

  test('names the deadline in its cause', async () => {
    const { guard, time } = guarded(hangs, { deadlineMs: 20 });
    const batchAnswer = guard.spend([transaction()]);
    await time.pass(20);
    const message = 'The store did not answer within 20 ms (failure.deadlineMs).';
    expect((await batchAnswer).failure?.cause).toEqual(new SluiceError('ERR_STORE_DEADLINE', message));
  });

  test('delays the decisions of the first deadline and two more, never the rest', async () => {
    const { guard, store, time } = guarded(hangs);
    let waited = 0;
    for (let ms = 0; ms < 1000; ms += 2) {
      if (guard.spend([transaction()]) instanceof Promise) waited++;
      await time.pass(2);
    }
    const probes = 9;
    expect(waited).toBe(25 + 2 + probes);
    expect(store.calls).toHaveLength(waited);
  });

  test('is found to hang no later for having answered a moment ago', async () => {
    const { guard, store, time } = guarded(answersSoon);
    let waited = 0;
    for (let ms = 0; ms < 200; ms += 2) {
      if (ms === 100) store.behaviour = hangs;
      if (guard.spend([transaction()]) instanceof Promise) waited++;
      await time.pass(2);
    }
    expect(waited).toBe(50 + 25 + 2);
  });

  test('and answers after the deadline is ignored: the decision remains, and no rejection is unhandled', async () => {
    const { guard, store, time } = guarded(hangs);
    const answer = deferred<unknown>();
    store.behaviour = () => answer.promise;
    const batchAnswer = guard.spend([transaction()]);
    await time.pass(50);
    answer.resolve(reading([1]));
    expect((await batchAnswer).failure).toMatchObject({ policy: 'local' });
  });

  test('and rejects after the deadline leaves no unhandled rejection', async () => {
    const { guard, store, time } = guarded(hangs);
    const answer = deferred<unknown>();
    store.behaviour = () => answer.promise;
    const batchAnswer = guard.spend([transaction()]);
    await time.pass(50);
    answer.reject(down);
    await settled();
    expect((await batchAnswer).failure?.cause).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  });

  test('all its waiting decisions share one timer', () => {
    const { guard, time } = guarded(hangs);
    for (let i = 0; i < 50; i++) void guard.spend([transaction()]);
    expect(time.pending).toBe(1);
  });

  test('only because this process stalled does not miss its deadline', async () => {
    const { guard, store, time } = guarded(hangs);
    const answer = deferred<unknown>();
    store.behaviour = () => answer.promise;
    const batchAnswer = guard.spend([transaction()]);
    time.endOfTurn(() => answer.resolve(reading([1])));
    await time.stall(100);
    expect((await batchAnswer).failure).toBeUndefined();
  });
});

describe.each([
  ['rejects', rejects],
  ['throws', throws],
] as const)('a store that %s', (_, fails) => {
  test.each([
    ['an error', down],
    ['no error at all', undefined],
    ['that it is unavailable', new SluiceError('ERR_STORE_UNAVAILABLE', 'not connected')],
  ])('with %s is answered for by policy, which keeps the cause', async (_what, cause) => {
    const { guard } = guarded(fails(cause));
    expect((await guard.spend([transaction()])).failure).toEqual({ policy: 'local', cause });
    expect((await guard.check([transaction()])).failure).toEqual({ policy: 'local', cause });
  });

  test('with what can not be inspected is answered for by policy, with an event', async () => {
    const { guard, events } = guarded(fails(uninspectable()));
    for (let i = 0; i < 3; i++) expect((await guard.spend([transaction()])).failure?.policy).toBe('local');
    expect(events.map(({ type }) => type)).toEqual(['store-failing']);
  });

  test('is left alone after three failures in a row, and the policy answers at once', async () => {
    const { guard, store } = guarded(fails(down));
    for (let i = 0; i < 3; i++) await guard.spend([transaction()]);
    expect(guard.spend([transaction()])).toMatchObject({ failure: { policy: 'local', cause: down } });
    expect(guard.check([transaction()])).toMatchObject({ failure: { policy: 'local', cause: down } });
    expect(store.calls).toHaveLength(3);
  });

  const wrongUse: ErrorCode[] = ['ERR_CLOSED', 'ERR_DUPLICATE_BUCKET', 'ERR_COST', 'ERR_OPTION'];
  test.each(wrongUse)(
    'with %s was used wrongly: the caller gets the error, and it does not count as a failure',
    async (code) => {
      const error = new SluiceError(code, 'wrong use');
      const { guard, events } = guarded(fails(error));
      for (let i = 0; i < 5; i++) {
        await expect((async () => guard.spend([transaction()]))()).rejects.toBe(error);
        await expect((async () => guard.charge([transaction()]))()).rejects.toBe(error);
      }
      expect(guard.status()).toMatchObject({ state: 'up', decidedByPolicy: 0, lastFailure: undefined });
      expect(events).toEqual([]);
    },
  );
});

test('after an answer, however slow, the store is called for another deadline', async () => {
  const slow = deferred<unknown>();
  const { guard, store, time } = guarded(() => slow.promise);
  const first = guard.spend([transaction()]);
  await time.pass(45);
  slow.resolve(reading([transaction()]));
  await first;
  store.behaviour = rejects(down);
  await time.pass(49);
  for (let i = 0; i < 3; i++) await guard.spend([transaction()]);
  expect(guard.status().state).toBe('up');
  await time.pass(1);
  await guard.spend([transaction()]);
  expect(guard.status().state).toBe('failing');
});

describe('a store of several servers, one of them dead,', () => {
  const onDeadServer = transaction({ id: 'dead' });
  const aLive = transaction({ id: 'live' });
  const answersForTheLiving: Behaviour = (batch) =>
    batch.includes(onDeadServer) ? Promise.reject(down) : answersSoon(batch);

  test('is still called for the buckets of the others, however the failures of the dead one are ordered', async () => {
    const { guard, store, time, events } = guarded(answersForTheLiving);
    for (let i = 0; i < 40; i++) {
      expect((await guard.spend([aLive])).failure).toBeUndefined();
      for (let refusal = 0; refusal < 5; refusal++) {
        await time.pass(9);
        expect((await guard.spend([onDeadServer])).failure).toEqual({ policy: 'local', cause: down });
      }
      await time.pass(4);
    }
    expect(store.calls).toHaveLength(40 * 6);
    expect(events).toEqual([]);
  });
});

test('calls that this process has made too many of at once do not begin an outage, and are decided by policy', async () => {
  const overload = new SluiceError('ERR_STORE_OVERLOAD', 'too many at once');
  const { guard, store } = guarded(rejects(overload));
  for (let call = 0; call < 10; call++) {
    // oxlint-disable-next-line no-await-in-loop -- one failure after the other
    expect((await guard.spend([transaction()])).failure?.cause).toBe(overload);
  }
  expect(store.calls).toHaveLength(10);
  expect(guard.status()).toMatchObject({
    state: 'up',
    outages: 0,
    decidedByPolicy: 10,
    lastFailure: { cause: overload },
  });
});
