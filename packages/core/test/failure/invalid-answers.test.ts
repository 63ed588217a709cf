import { changed } from '../../src/decision/transaction.ts';
import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { StalePeriodError } from '../../src/store/calendar-period.ts';
import { breakDown, guarded, transaction } from './support/guarded.ts';
import { answers, answersAtOnce, hangs, rejects, throws } from './support/scripted-store.ts';

describe('a store that answers with nonsense', () => {
  const level = (levelTicks: unknown) => ({ passed: 0, nowTicks: 1, levelsTicks: [levelTicks] });
  const tolerance = transaction().capTicks;

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a number', 1],
    ['no reading', {}],
    ['no levels', { passed: 0, nowTicks: 1 }],
    ['no time', { passed: 0, levelsTicks: [0] }],
    ['a time that is no number', { passed: 0, nowTicks: NaN, levelsTicks: [0] }],
    ['a time that is not whole', { passed: 0, nowTicks: 0.5, levelsTicks: [0] }],
    ['a time beyond exact numbers', { passed: 0, nowTicks: 2 ** 53, levelsTicks: [0] }],
    ['too few levels', { passed: 0, nowTicks: 1, levelsTicks: [] }],
    ['too many levels', { passed: 0, nowTicks: 1, levelsTicks: [0, 0] }],
    ['levels that are no list', { passed: 0, nowTicks: 1, levelsTicks: { length: 1, 0: 0 } }],
    ['a level that is no number', level(NaN)],
    ['a level as text', level('0')],
    ['a level that is not whole', level(0.5)],
    ['a level below 0', level(-1)],
    ['a level beyond exact numbers', level(2 ** 53)],
    ['too few clocks of buckets', { ...level(0), bucketNowTicks: [] }],
    ['clocks of buckets that are no list', { ...level(0), bucketNowTicks: { length: 1, 0: 0 } }],
    ['a clock of a bucket that is not whole', { ...level(0), bucketNowTicks: [0.5] }],
    ['too many wall times of buckets', { ...level(0), bucketWallMs: [1, 1] }],
    ['wall times of buckets that are no list', { ...level(0), bucketWallMs: { length: 1, 0: 1 } }],
    ['a wall time of a bucket that is not whole', { ...level(0), bucketWallMs: [0.5] }],
    ['a wall time of a bucket that is no number', { ...level(0), bucketWallMs: [null] }],
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

  test.each([[undefined], [[undefined]]])(
    'no wall time of a bucket with a calendar period, %j, is answered for by policy',
    async (bucketWallMs) => {
      const { guard } = guarded(answers({ ...level(0), bucketWallMs }));
      const quota = changed(transaction(), { calendar: 'day:0:0:UTC', period: [0, 86_400_000, 172_800_000] });
      expect(await guard.spend([quota])).toMatchObject({ failure: { cause: { code: 'ERR_STORE_ANSWER' } } });
    },
  );

  test.each([0, tolerance, tolerance + 1])('but a level of %i is a good answer', async (levelTicks) => {
    const { guard } = guarded(answers(level(levelTicks)));
    expect((await guard.spend([transaction()])).failure).toBeUndefined();
  });

  test('but a clock for each bucket is a good answer', async () => {
    const { guard } = guarded(answers({ ...level(0), bucketNowTicks: [-16] }));
    expect((await guard.spend([transaction()])).failure).toBeUndefined();
  });

  test.each([[[1782864000000]], [[undefined]], [undefined]])('but %j as wall times is a good answer', async (walls) => {
    const { guard } = guarded(answers({ ...level(0), bucketWallMs: walls }));
    expect((await guard.spend([transaction()])).failure).toBeUndefined();
  });

  test('is reported with the demand, the value, and how to find the cause', async () => {
    const { guard } = guarded(answers(level(0.5)));
    const { cause } = (await guard.spend([transaction()])).failure!;
    expect((cause as Error).message).toBe(
      'A store must return in `passed` the index of the batch that passed or -1, a whole number `nowTicks` and in `levelsTicks` one whole number for each bucket, ' +
        '1 in all, from 0 up, and as many in `bucketNowTicks` and `bucketWallMs` if it returns those or a bucket has a period, ' +
        'but returned { passed: 0, nowTicks: 1, levelsTicks: [ 0.5 ] }. ' +
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

describe('a stale period', () => {
  const now = Date.UTC(2026, 6, 1);
  const stale = (wallMs = now) => new StalePeriodError([0, 1, 2], wallMs);

  test('is thrown to the caller by every call, and is an answer of the store', async () => {
    for (const behaviour of [rejects(stale()), throws(stale())]) {
      const { guard, store, events, onceEvents } = guarded(behaviour);
      const call = async (run: () => unknown) => run();
      for (let i = 0; i < 5; i++) {
        for (const run of [
          () => guard.spend([transaction()]),
          () => guard.check([transaction()]),
          () => guard.charge([transaction()]),
          () => guard.refund(store, [transaction()]),
        ]) {
          await expect(call(run)).rejects.toMatchObject({ code: 'ERR_STORE_PERIOD', wallMs: now });
        }
      }
      expect(store.calls).toHaveLength(20);
      expect([...events, ...onceEvents]).toEqual([]);
      const expected = { state: 'up', outages: 0, lastFailure: undefined, decidedByPolicy: 0 };
      expect(guard.status()).toMatchObject(expected);
    }
  });

  test('ends an outage, so that the caller can repeat its call at once', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.behaviour = rejects(stale());
    await setup.time.pass(100);
    await expect(setup.guard.spend([transaction()])).rejects.toMatchObject({ code: 'ERR_STORE_PERIOD' });
    expect(setup.guard.status().state).toBe('up');
    setup.store.behaviour = answersAtOnce;
    expect((await setup.guard.spend([transaction()])).failure).toBeUndefined();
  });

  test.each([NaN, 0.5, 8.64e15 + 1])('without a time of the store, but %d, is a failure', async (wallMs) => {
    const error = stale(wallMs);
    const { guard } = guarded(rejects(error));
    expect((await guard.spend([transaction()])).failure).toEqual({ policy: 'local', cause: error });
  });

  test('of another error class with the same code is a failure', async () => {
    const error = new SluiceError('ERR_STORE_PERIOD', 'The period is over.');
    const { guard } = guarded(rejects(error));
    expect((await guard.spend([transaction()])).failure).toEqual({ policy: 'local', cause: error });
  });
});
