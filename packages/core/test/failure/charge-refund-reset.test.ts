import { describe, expect, test } from 'vitest';
import { changed, type Transaction } from '../../src/decision/transaction.ts';
import type { StoreRefund } from '../../src/store/store.ts';
import { TICKS_PER_SECOND } from '../../src/rule/ticks.ts';
import { breakDown, decided, guarded, transaction } from './support/guarded.ts';
import { answersSoon, hangs, reading, throws } from './support/scripted-store.ts';

const down = new Error('down');
const failing = (gateways = 1) => guarded(throws(down), { gateways });

const local = transaction({ limit: 'Local' });
const open = transaction({ limit: 'Open', onFailure: 'open' });
const closed = transaction({ limit: 'Closed', onFailure: 'closed' });

describe('a charge', () => {
  test('is taken by the store', async () => {
    const { guard, store } = guarded(answersSoon);
    expect(await guard.charge([local, open])).toEqual({ batch: [local, open], reading: reading([1, 2]), store });
  });

  test('is taken locally under `local` while the store fails, and lost under the others', async () => {
    const { guard, events } = failing();
    const charged = await guard.charge([open, local, closed]);
    expect(charged.batch).toEqual([local]);
    expect(charged.reading.levelsTicks).toEqual([TICKS_PER_SECOND]);
    expect(decided(await guard.check([local])).levelsTicks).toEqual([TICKS_PER_SECOND]);
    expect(events).toMatchObject([{ type: 'charge-lost', count: 2, cause: down }]);
  });

  test('is taken in local numbers', async () => {
    const { guard } = failing(5);
    const charged = await guard.charge([transaction({ cost: 50 })]);
    expect(charged).toMatchObject({ batch: [{ cost: 2, rate: { burst: 2 } }] });
    expect(charged.reading.levelsTicks).toEqual([10 * TICKS_PER_SECOND]);
  });

  test('that no limit takes resolves all the same', async () => {
    const { guard, store } = failing();
    expect(await guard.charge([open])).toEqual({
      batch: [],
      reading: { passed: 0, nowTicks: 0, levelsTicks: [] },
      store,
    });
  });

  test('of local limits alone is not lost', async () => {
    const { guard, events } = failing();
    await guard.charge([local]);
    expect(events).toEqual([]);
  });

  test('has the same deadline as a decision', async () => {
    const { guard, time } = guarded(hangs);
    const charged = guard.charge([local]);
    await time.pass(50);
    expect((await charged).batch).toEqual([local]);
  });

  test('does not ask a store that is left alone', async () => {
    const setup = guarded(hangs);
    await breakDown(setup);
    setup.store.calls.length = 0;
    expect(setup.guard.charge([local])).toMatchObject({ batch: [local] });
    expect(setup.store.calls).toEqual([]);
  });
});

describe('a refund', () => {
  const refund: Transaction & StoreRefund = Object.assign(changed(local, {}), { tatAfterSpendTicks: 123 });

  test('of a decision of the store goes to the store', async () => {
    const { guard, store } = guarded(answersSoon);
    expect(await guard.refund(store, [refund])).toEqual({ batch: [refund], reading: reading([1]), store });
    expect(store.calls).toEqual([{ name: 'refund', batch: [refund], deadlineMs: 50 }]);
  });

  test('of a local decision goes to the local store, also when the store is back', async () => {
    const setup = failing();
    const { guard, store, time } = setup;
    const before = decided(await guard.spend([local]));
    const decider = before.origin.store!;
    store.behaviour = answersSoon;
    await breakDown(setup);
    store.calls.length = 0;
    const tatAfterSpendTicks = before.nowTicks + local.incrementTicks;
    time.step(250);
    const given = await guard.refund(decider, [Object.assign(changed(local, {}), { tatAfterSpendTicks })]);
    expect(given).toMatchObject({ reading: { levelsTicks: [0] }, store: decider });
    expect(store.calls).toEqual([]);
  });

  test('that the store can not process leaves the tokens taken, emits an event, and resolves', async () => {
    const { guard, store, events } = failing();
    expect(await guard.refund(store, [refund])).toMatchObject({ batch: [], reading: { levelsTicks: [] } });
    expect(events).toMatchObject([{ type: 'refund-lost', count: 1, cause: down }]);
  });

  test('that hangs is not waited for longer than the deadline', async () => {
    const { guard, store, time, events } = guarded(hangs);
    const given = guard.refund(store, [refund]);
    await time.pass(50);
    expect((await given).batch).toEqual([]);
    expect(events).toMatchObject([{ type: 'refund-lost', cause: { code: 'ERR_STORE_DEADLINE' } }]);
  });
});

describe('a reset', () => {
  test('reaches the store', async () => {
    const { guard, store } = guarded(answersSoon);
    await expect(guard.reset([local])).resolves.toBeUndefined();
    expect(store.calls).toMatchObject([{ name: 'reset', batch: [local] }]);
  });

  test('rejects with the cause when the store can not answer: the operator must know', async () => {
    const { guard } = failing();
    for (let i = 0; i < 5; i++) {
      await expect(guard.reset([local])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: down });
    }
  });

  test('that was done, but not confirmed in time, is not reported as not done', async () => {
    const { guard, store, time } = guarded(answersSoon);
    const done: unknown[] = [];
    store.behaviour = (batch) => {
      done.push(...batch);
      return hangs(batch);
    };
    const reset = Promise.allSettled([guard.reset([local])]);
    await time.pass(50);
    expect(done).toEqual([local]);
    expect(await reset).toMatchObject([
      {
        reason: {
          message:
            'The store did not confirm the reset: all, some or none of the buckets may be full now. ' +
            'Reset them again when the store answers.',
        },
      },
    ]);
  });

  test('that hangs rejects at the deadline', async () => {
    const { guard, time } = guarded(hangs);
    const reset = Promise.allSettled([guard.reset([local])]);
    await time.pass(50);
    expect(await reset).toMatchObject([{ reason: { cause: { code: 'ERR_STORE_DEADLINE' } } }]);
  });

  test('makes the local bucket full in any case', async () => {
    const { guard } = failing();
    await guard.spend([transaction({ limit: 'Local', cost: 10 })]);
    await expect(guard.reset([local])).rejects.toThrow('did not confirm the reset');
    expect(decided(await guard.check([local])).levelsTicks).toEqual([0]);
  });
});
