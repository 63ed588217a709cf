import { assert } from '../assert.ts';
import { MAX_TOLERANCE_TICKS, TICKS_PER_SECOND } from '../../rule/ticks.ts';
import { emptyReading } from '../../store/store.ts';
import { assertTat, fitted, other, quick, SampleLimit, slow, tatOf } from '../sample-limit.ts';
import { promise, type SteeredStoreCase, steeredPromise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

/** One bucket: spending, denying and refilling. */
export const takingCases: readonly (StoreCase | SteeredStoreCase)[] = [
  promise('a bucket never seen is full', async ({ store }) => {
    assert.deepEqual((await callsOf(store).check([slow.spend('new')])).levelsTicks, [0]);
  }),

  promise('spend gives the level before it took, and the next call the level after', async ({ store }) => {
    const first = await callsOf(store).spend([slow.spend('id', 2)]);
    assert.deepEqual(first.levelsTicks, [0]);
    const tat = tatOf(first, slow.spend('id', 2).incrementTicks);
    assertTat(await callsOf(store).spend([slow.spend('id')]), tat);
    assertTat(await callsOf(store).check([slow.spend('id')]), tat + slow.emissionIntervalTicks);
  }),

  promise('exactly burst requests fit into a full bucket', async ({ store }) => {
    for (let request = 1; request <= slow.burst; request++) {
      assert.ok(
        fitted(await callsOf(store).spend([slow.spend('id')]), slow.spend('id')),
        `request ${request} was denied`,
      );
    }
    assert.ok(!fitted(await callsOf(store).spend([slow.spend('id')]), slow.spend('id')), 'one more than burst fitted');
  }),

  promise('a cost of the whole burst fits into a full bucket', async ({ store }) => {
    const whole = slow.spend('id', slow.burst);
    assert.ok(fitted(await callsOf(store).spend([whole]), whole));
    assert.ok(!fitted(await callsOf(store).check([slow.spend('id')]), slow.spend('id')));
  }),

  promise('a denied request does not move the TAT', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 4)]), 4 * slow.emissionIntervalTicks);
    for (let request = 0; request < 3; request++) assertTat(await callsOf(store).spend([slow.spend('id', 2)]), tat);
    assert.ok(fitted(await callsOf(store).spend([slow.spend('id')]), slow.spend('id')), 'the last token was gone');
  }),

  promise('a cost of 0 takes nothing, from a full bucket and from an empty one', async ({ store }) => {
    assert.deepEqual((await callsOf(store).spend([slow.spend('id', 0)])).levelsTicks, [0]);
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 5)]), 5 * slow.emissionIntervalTicks);
    assertTat(await callsOf(store).spend([slow.spend('id', 0)]), tat);
    assertTat(await callsOf(store).check([slow.spend('id')]), tat);
  }),

  promise('tokens come back one by one', async ({ store, advance }) => {
    await callsOf(store).spend([quick.spend('id', 2)]);
    await advance(21);
    assert.ok(fitted(await callsOf(store).spend([quick.spend('id')]), quick.spend('id')));
  }),

  promise('a bucket whose TAT has passed is the same as no bucket', async ({ store, advance }) => {
    await callsOf(store).spend([quick.spend('id', 2)]);
    await advance(41);
    assert.deepEqual((await callsOf(store).spend([quick.spend('id', 2)])).levelsTicks, [0]);
  }),

  promise('a bucket that takes ten years to fill is exact to the tick', async ({ store }) => {
    const long = new SampleLimit('Long', 1, MAX_TOLERANCE_TICKS);
    const almost = { ...long.spend('id'), incrementTicks: MAX_TOLERANCE_TICKS - 1 };
    const first = await callsOf(store).spend([almost]);
    assertTat(await callsOf(store).check([long.spend('id')]), tatOf(first, almost.incrementTicks));
  }),

  steeredPromise('exactly seven of seven per second fit at one instant', async ({ store }) => {
    const seven = new SampleLimit('Seven', 7, Math.floor(TICKS_PER_SECOND / 7));
    for (let request = 1; request <= 7; request++) {
      assert.ok(
        fitted(await callsOf(store).spend([seven.spend('id')]), seven.spend('id')),
        `request ${request} was denied`,
      );
    }
    assert.ok(!fitted(await callsOf(store).spend([seven.spend('id')]), seven.spend('id')), 'the eighth fitted');
  }),

  steeredPromise(
    'a denied cost fits when its wait is over, and not a microsecond sooner',
    async ({ store, advance }) => {
      await callsOf(store).spend([quick.spend('id', 2)]);
      await advance(19.999);
      assert.ok(
        !fitted(await callsOf(store).spend([quick.spend('id')]), quick.spend('id')),
        'it fitted a microsecond sooner',
      );
      await advance(0.001);
      assert.ok(
        fitted(await callsOf(store).spend([quick.spend('id')]), quick.spend('id')),
        'it was denied after its wait',
      );
    },
  ),

  steeredPromise('a clock that steps back grants nothing', async ({ store, advance, stepBack }) => {
    await advance(1000);
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 4)]), 4 * slow.emissionIntervalTicks);
    await advance(500);
    assertTat(await callsOf(store).check([slow.spend('id')]), tat);
    await stepBack(500);
    const reading = await callsOf(store).check([slow.spend('id')]);
    assert.deepEqual(reading.levelsTicks, [4 * slow.emissionIntervalTicks]);
    assertTat(reading, tat);
  }),

  promise('take, of a store that has it, decides and takes a batch as a spend does', async ({ store }) => {
    if (store.take === undefined) return;
    const batch = [slow.spend('id', 3), other.spend('id')];
    const [passed, denied] = [emptyReading(2), emptyReading(2)];
    store.take(batch, passed);
    assert.deepEqual(passed.levelsTicks, [0, 0]);
    store.take(batch, denied);
    assert.deepEqual([passed.passed, denied.passed], [0, -1]);
    const tats = batch.map(({ incrementTicks }, index) => tatOf(passed, incrementTicks, index));
    for (const reading of [denied, await callsOf(store).check(batch)]) {
      for (const [index, tat] of tats.entries()) assertTat(reading, tat, index);
    }
  }),
];
