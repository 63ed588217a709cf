import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { breakDown, guarded, transaction } from './support/guarded.ts';
import { answers, hangs, rejects } from './support/scripted-store.ts';

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
