import { describe, expect, test } from 'vitest';
import { SluiceError, type ErrorCode } from '../../src/checks/errors.ts';
import { uninspectable } from '../support/uninspectable.ts';
import { deferred, settled } from '../support/promises.ts';
import { breakDown, decided, guarded, passed, transaction } from './support/guarded.ts';
import {
  answers,
  answersAtOnce,
  answersSoon,
  hangs,
  reading,
  rejects,
  remembers,
  throws,
  type Behaviour,
} from './support/scripted-store.ts';

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
      available: true,
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

describe('a store that answers with nonsense', () => {
  const level = (levelTicks: unknown) => ({ nowTicks: 1, levelsTicks: [levelTicks] });
  const tolerance = transaction().capTicks;

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 1],
    ['no reading', {}],
    ['no levels', { nowTicks: 1 }],
    ['no time', { levelsTicks: [0] }],
    ['a time that is no number', { nowTicks: NaN, levelsTicks: [0] }],
    ['a time that is not whole', { nowTicks: 0.5, levelsTicks: [0] }],
    ['a time beyond exact numbers', { nowTicks: 2 ** 53, levelsTicks: [0] }],
    ['too few levels', { nowTicks: 1, levelsTicks: [] }],
    ['too many levels', { nowTicks: 1, levelsTicks: [0, 0] }],
    ['levels that are no list', { nowTicks: 1, levelsTicks: { length: 1, 0: 0 } }],
    ['a level that is no number', level(NaN)],
    ['a level as text', level('0')],
    ['a level that is not whole', level(0.5)],
    ['a level below 0', level(-1)],
    ['a level beyond exact numbers', level(2 ** 53)],
    ['too few clocks of buckets', { ...level(0), bucketNowTicks: [] }],
    ['clocks of buckets that are no list', { ...level(0), bucketNowTicks: { length: 1, 0: 0 } }],
    ['a clock of a bucket that is not whole', { ...level(0), bucketNowTicks: [0.5] }],
  ])('%s, is answered for by policy', async (_what, answer) => {
    for (const behaviour of [answers(answer), () => answer]) {
      const { guard, store } = guarded(behaviour);
      const failure = { cause: { code: 'ERR_STORE_ANSWER' } };
      expect(await guard.spend([transaction()])).toMatchObject({ failure });
      expect(await guard.charge([transaction({ onFailure: 'open' })])).toMatchObject({ batch: [] });
      expect(await guard.refund(store, [transaction()])).toMatchObject({ batch: [] });
      expect(guard.status().state).toBe('failing');
    }
  });

  test.each([0, tolerance, tolerance + 1])('but a level of %i is a good answer', async (levelTicks) => {
    const { guard } = guarded(answers(level(levelTicks)));
    expect((await guard.spend([transaction()])).failure).toBeUndefined();
  });

  test('but a clock for each bucket is a good answer', async () => {
    const { guard } = guarded(answers({ ...level(0), bucketNowTicks: [-16] }));
    expect((await guard.spend([transaction()])).failure).toBeUndefined();
  });

  test('is reported with the demand, the value, and how to find the cause', async () => {
    const { guard } = guarded(answers(level(0.5)));
    const { cause } = (await guard.spend([transaction()])).failure!;
    expect((cause as Error).message).toBe(
      'A store must return a whole number `nowTicks` and in `levelsTicks` one whole number for each bucket, ' +
        '1 in all, from 0 up, but returned { nowTicks: 1, levelsTicks: [ 0.5 ] }. ' +
        'Run the store contract of @sluice/core/testing against this store.',
    );
  });
});

describe('one broken bucket', () => {
  const broken = new SluiceError('ERR_STORE_BUCKET', 'Orders:a holds a list');

  test('is answered for by policy and never counts as an outage of the store', async () => {
    const { guard, store } = guarded(rejects(broken));
    for (let i = 0; i < 20; i++) {
      expect((await guard.spend([transaction()])).failure).toEqual({ policy: 'local', cause: broken });
    }
    expect(store.calls).toHaveLength(20);
    expect(guard.status()).toMatchObject({ state: 'up', outages: 0, lastFailure: undefined, decidedByPolicy: 20 });
  });

  test('does not end an outage either', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = rejects(broken);
    await setup.time.pass(100);
    await setup.guard.spend([transaction()]);
    expect(setup.guard.status().state).toBe('failing');
  });
});

describe('recovery', () => {
  test('one live decision every 100 ms tries the store; the others are answered at once', async () => {
    const { guard, store, time } = guarded(throws(down));
    for (let i = 0; i < 3; i++) void guard.spend([transaction()]);
    store.calls.length = 0;
    for (let ms = 0; ms < 1000; ms += 10) {
      await time.pass(10);
      void guard.spend([transaction()]);
      void guard.check([transaction()]);
    }
    expect(store.calls).toHaveLength(10);
  });

  test('the first answer gives all decisions back to the store', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = answersSoon;
    await setup.time.pass(99);
    expect(await setup.guard.spend([transaction()])).toMatchObject({ failure: { policy: 'local' } });
    await setup.time.pass(1);
    for (let i = 0; i < 5; i++) expect((await setup.guard.spend([transaction()])).failure).toBeUndefined();
  });

  test.each(['charge', 'refund', 'reset'] as const)('a %s tries the store as well', async (name) => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = answersAtOnce;
    await setup.time.pass(100);
    const { guard, store } = setup;
    await (name === 'refund' ? guard.refund(store, [transaction()]) : guard[name]([transaction()]));
    expect(guard.status().state).toBe('up');
  });

  test('an answer from memory decides, but does not end the outage', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    const { guard, store, time, events } = setup;
    store.behaviour = remembers;
    await time.pass(100);
    expect(await guard.spend([transaction()])).toMatchObject({ store, failure: undefined });
    expect(guard.status().state).toBe('failing');
    expect(events.map(({ type }) => type)).toEqual(['store-failing']);
  });

  test('an answer from memory does not use up the try of its 100 ms', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    const { guard, store, time } = setup;
    store.behaviour = remembers;
    await time.pass(100);
    await guard.spend([transaction()]);
    store.behaviour = answersSoon;
    await guard.spend([transaction()]);
    expect(guard.status().state).toBe('up');
  });

  test('an answer from memory does not part failures in a row', async () => {
    const { guard, store } = guarded(throws(down));
    for (let i = 0; i < 3; i++) {
      store.behaviour = remembers;
      await guard.spend([transaction()]);
      store.behaviour = throws(down);
      await guard.spend([transaction()]);
    }
    expect(guard.status().state).toBe('failing');
  });

  test('what missed its deadline in the outage does not bring it back after the end', async () => {
    const { guard, store, time } = guarded(hangs, { deadlineMs: 1000 });
    const old = Array.from({ length: 5 }, () => guard.spend([transaction()]));
    await time.pass(500);
    store.behaviour = rejects(down);
    for (let i = 0; i < 3; i++) await guard.spend([transaction()]);
    expect(guard.status().state).toBe('failing');
    const last = deferred<unknown>();
    await time.pass(499);
    store.behaviour = () => last.promise;
    // The first probe comes a deadline after the outage began.
    time.step(600);
    const probe = guard.spend([transaction()]);
    last.resolve(reading([1]));
    await probe;
    expect(guard.status().state).toBe('up');
    await time.pass(1000);
    await Promise.all(old);
    expect(guard.status()).toMatchObject({ state: 'up', outages: 1 });
  });

  test('a store that fails repeatedly does not grant a whole local burst at each outage', async () => {
    const { guard, store, time } = guarded(hangs);
    let admitted = 0;
    for (let outage = 0; outage < 5; outage++) {
      store.behaviour = throws(down);
      for (let i = 0; i < 30; i++) if (passed(await guard.spend([transaction()]))) admitted++;
      store.behaviour = answersAtOnce;
      await time.pass(100);
      void guard.spend([transaction({ id: 'b' })]);
      expect(guard.status()).toMatchObject({ state: 'up', outages: outage + 1 });
      await time.pass(50);
    }
    // A burst of 10 once, and what came back in the 0.6 s since: less than one token.
    expect(admitted).toBe(10);
  });

  test('after recovery, local buckets are not used', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    for (let i = 0; i < 11; i++) void setup.guard.spend([transaction()]);
    expect(passed(await setup.guard.spend([transaction()]))).toBe(false);
    setup.store.behaviour = answersAtOnce;
    await setup.time.pass(100);
    const batchAnswer = decided(await setup.guard.spend([transaction()]));
    expect([passed(batchAnswer), batchAnswer.store]).toEqual([true, setup.store]);
  });
});
