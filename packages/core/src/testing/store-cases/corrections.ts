import { assert } from '../assert.ts';
import { assertTat, fitted, other, quick, slow, tatOf } from '../sample-limit.ts';
import { promise, type SteeredStoreCase, steeredPromise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const T = slow.emissionIntervalTicks;

/** Charges, refunds and resets. */
export const correctionCases: readonly (StoreCase | SteeredStoreCase)[] = [
  promise('a charge takes tokens and gives the level after', async ({ store }) => {
    const charged = await callsOf(store).charge([slow.charge('id', 2)]);
    assert.deepEqual(charged.levelsTicks, [2 * T]);
    assertTat(await callsOf(store).charge([slow.charge('id')]), tatOf(charged) + T);
  }),

  promise('a charge that does not fit empties the bucket, and no more', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id', 3)]);
    assert.deepEqual((await callsOf(store).charge([slow.charge('id', 4)])).levelsTicks, [5 * T]);
    assert.deepEqual((await callsOf(store).charge([slow.charge('new', 1000)])).levelsTicks, [5 * T]);
  }),

  promise('a charge of 0 changes nothing', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 2)]), 2 * T);
    const reading = await callsOf(store).charge([slow.charge('id', 0), slow.charge('new', 0)]);
    assertTat(reading, tat, 0);
    assertTat(reading, 0, 1);
  }),

  promise('one charge takes from several buckets, whether they fit or not', async ({ store }) => {
    await callsOf(store).spend([slow.spend('a', 5)]);
    const { levelsTicks } = await callsOf(store).charge([slow.charge('a'), other.charge('a')]);
    assert.deepEqual(levelsTicks, [5 * T, T]);
  }),

  promise('a refund gives tokens back and the level after', async ({ store }) => {
    const taken = await callsOf(store).spend([slow.spend('a', 4), other.spend('a', 2)]);
    const reading = await callsOf(store).refund([slow.refund('a', 3), other.refund('a')]);
    assertTat(reading, tatOf(taken, T, 0), 0);
    assertTat(reading, tatOf(taken, T, 1), 1);
    assertTat(await callsOf(store).check([slow.spend('a')]), tatOf(taken, T, 0));
  }),

  promise('a refund never fills a bucket past full', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id')]);
    assert.deepEqual((await callsOf(store).refund([slow.refund('id', 5), slow.refund('new', 5)])).levelsTicks, [0, 0]);
    const whole = slow.spend('id', 5);
    assert.ok(fitted(await callsOf(store).spend([whole]), whole));
    assert.ok(!fitted(await callsOf(store).spend([slow.spend('id')]), slow.spend('id')), 'more than burst fitted');
  }),

  promise('a refund of a decision gives its tokens back while all its debt lies ahead', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 3)]), 3 * T);
    await callsOf(store).spend([slow.spend('id')]);
    assertTat(await callsOf(store).refund([slow.refund('id', 2, tat)]), tat + T - 2 * T);
  }),

  promise('a refund of a decision whose debt has passed gives nothing', async ({ store, advance }) => {
    const tat = tatOf(await callsOf(store).spend([quick.spend('id')]), quick.emissionIntervalTicks);
    await advance(21);
    const newer = tatOf(await callsOf(store).spend([quick.spend('id', 2)]), 2 * quick.emissionIntervalTicks);
    assertTat(await callsOf(store).refund([quick.refund('id', 1, tat)]), newer);
  }),

  steeredPromise(
    'a late refund of a decision gives back only what has not come back by itself',
    async ({ store, advance }) => {
      const tat = tatOf(await callsOf(store).spend([quick.spend('id', 2)]), 2 * quick.emissionIntervalTicks);
      await advance(30);
      await callsOf(store).spend([quick.spend('id')]);
      assert.deepEqual((await callsOf(store).refund([quick.refund('id', 2, tat)])).levelsTicks, [
        quick.emissionIntervalTicks,
      ]);
    },
  ),

  promise('in a queue, only the last decision is refunded', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id', 5)]);
    const [first, last] = [
      await callsOf(store).spend([slow.queued(8, slow.spend('id'))]),
      await callsOf(store).spend([slow.queued(8, slow.spend('id', 2))]),
    ];
    const lineTicks = 5 * T;
    const tat = tatOf(last, 2 * T);
    const refundOfFirst = { ...slow.refund('id', 1, tatOf(first, T)), lineTicks };
    assertTat(await callsOf(store).refund([refundOfFirst]), tat);
    assertTat(await callsOf(store).refund([{ ...slow.refund('id', 2, tat), lineTicks }]), tat - 2 * T);
    assertTat(await callsOf(store).refund([refundOfFirst]), tat - 3 * T);
  }),

  promise('a decision is refunded when no request waits, whatever came later', async ({ store }) => {
    const taken = await callsOf(store).spend([slow.queued(8, slow.spend('id', 3))]);
    const tat = tatOf(await callsOf(store).spend([slow.queued(8, slow.spend('id'))]), T);
    const refund = { ...slow.refund('id', 2, tatOf(taken, 3 * T)), lineTicks: 5 * T };
    assertTat(await callsOf(store).refund([refund]), tat - 2 * T);
  }),

  promise('a named bucket is refunded also while requests wait in a queue', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id', 5)]);
    const tat = tatOf(await callsOf(store).spend([slow.queued(8, slow.spend('id', 2))]), 2 * T);
    assertTat(await callsOf(store).refund([{ ...slow.refund('id'), lineTicks: 5 * T }]), tat - T);
  }),

  promise('a refund before the turn of the decision gives nothing if the bucket was reset since', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id', 5)]);
    const waiting = tatOf(await callsOf(store).spend([slow.queued(8, slow.spend('id', 2))]), 2 * T);
    await callsOf(store).reset([{ limit: slow.name, id: 'id' }]);
    const tat = tatOf(await callsOf(store).spend([slow.queued(8, slow.spend('id', 3))]), 3 * T);
    assertTat(await callsOf(store).refund([{ ...slow.refund('id', 2, waiting), lineTicks: 5 * T }]), tat);
  }),

  promise('a refund of a decision leaves a bucket full that was reset since', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 3)]), 3 * T);
    await callsOf(store).reset([{ limit: slow.name, id: 'id' }]);
    assert.deepEqual((await callsOf(store).refund([slow.refund('id', 3, tat)])).levelsTicks, [0]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),

  promise('a decision is not refunded while a later one waits, also after its own turn', async ({ store }) => {
    const taken = await callsOf(store).spend([slow.queued(8, slow.spend('id', 5))]);
    const tat = tatOf(await callsOf(store).spend([slow.queued(8, slow.spend('id', 2))]), 2 * T);
    const refund = { ...slow.refund('id', 1, tatOf(taken, 5 * T)), lineTicks: 5 * T };
    assertTat(await callsOf(store).refund([refund]), tat);
  }),

  promise('a reset bucket is full, and no other is', async ({ store }) => {
    const taken = await callsOf(store).spend([slow.spend('a', 5), slow.spend('b', 5), other.spend('a', 5)]);
    await callsOf(store).reset([
      { limit: slow.name, id: 'a' },
      { limit: slow.name, id: 'never seen' },
    ]);
    const reading = await callsOf(store).check([slow.spend('a'), slow.spend('b'), other.spend('a')]);
    assertTat(reading, 0, 0);
    for (const index of [1, 2]) assertTat(reading, tatOf(taken, 5 * T, index), index);
  }),
];
