import { assert } from '../assert.ts';
import type { StoreTransaction } from '../../store/store.ts';
import { assertTat, fitted, other, slow, tatOf } from '../sample-limit.ts';
import { promise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const T = slow.emissionIntervalTicks;

/** Batches of several buckets. */
export const batchCases: readonly StoreCase[] = [
  promise('a batch that fits takes from all its buckets', async ({ store }) => {
    const reading = await callsOf(store).spend([slow.spend('a', 1), other.spend('a', 2), slow.spend('b', 3)]);
    assert.deepEqual(reading.levelsTicks, [0, 0, 0]);
    const after = await callsOf(store).check([slow.spend('b'), slow.spend('a'), other.spend('a')]);
    assertTat(after, tatOf(reading, 3 * T, 2), 0);
    assertTat(after, tatOf(reading, T, 0), 1);
    assertTat(after, tatOf(reading, 2 * T, 1), 2);
  }),

  ...[0, 1, 2].map((denying) =>
    promise(`a batch of three that number ${denying + 1} denies takes from none of its buckets`, async ({ store }) => {
      const ids = ['a', 'b', 'c'];
      const tat = tatOf(await callsOf(store).spend([slow.spend(ids[denying]!, 5)]), 5 * T);
      const denied = await callsOf(store).spend(ids.map((id) => slow.spend(id)));
      assertTat(denied, tat, denying);
      const after = await callsOf(store).check(ids.map((id) => slow.spend(id)));
      for (const index of ids.keys()) assertTat(after, index === denying ? tat : 0, index);
    }),
  ),

  promise('a spend-only is taken whole when it fits', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('id', 5, 'spend-only')]), 5 * T);
    assertTat(await callsOf(store).check([slow.spend('id')]), tat);
  }),

  promise('a spend-only that does not fit is not taken at all, and denies nothing', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.spend('poor', 4)]), 4 * T);
    const reading = await callsOf(store).spend([slow.spend('poor', 2, 'spend-only'), slow.spend('rich', 2)]);
    const after = await callsOf(store).check([slow.spend('poor'), slow.spend('rich')]);
    assertTat(after, tat, 0);
    assertTat(after, tatOf(reading, 2 * T, 1), 1);
  }),

  promise('a spend-only that does not fit lets no batch pass that another transaction denies', async ({ store }) => {
    await callsOf(store).spend([slow.spend('empty', 5), slow.spend('poor', 5)]);
    await callsOf(store).spend([slow.spend('empty'), slow.spend('poor', 1, 'spend-only'), slow.spend('rich')]);
    assert.deepEqual((await callsOf(store).check([slow.spend('rich')])).levelsTicks, [0]);
  }),

  promise('a cost of 0 passes, and takes nothing, whatever the level is', async ({ store }) => {
    const taken = await callsOf(store).charge([{ ...slow.charge('debt', 8), capTicks: 8 * T }]);
    const reading = await callsOf(store).spend([slow.spend('debt', 0), slow.spend('rich', 2)]);
    const after = await callsOf(store).check([slow.spend('debt'), slow.spend('rich')]);
    assertTat(after, tatOf(taken), 0);
    assertTat(after, tatOf(reading, 2 * T, 1), 1);
  }),

  promise('a spend-only in a denied batch is not taken', async ({ store }) => {
    await callsOf(store).spend([slow.spend('empty', 5)]);
    await callsOf(store).spend([slow.spend('id', 1, 'spend-only'), slow.spend('empty')]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),

  promise('a check-only takes nothing', async ({ store }) => {
    await callsOf(store).spend([slow.spend('id', 3, 'check-only')]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),

  promise('a check-only that does not fit denies its batch', async ({ store }) => {
    await callsOf(store).spend([slow.spend('empty', 5)]);
    await callsOf(store).spend([slow.spend('id'), slow.spend('empty', 1, 'check-only')]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),

  promise('check takes nothing, whatever the modes say', async ({ store }) => {
    const modes = ['check-and-spend', 'check-only', 'spend-only'] as const;
    const batch = modes.map((mode) => slow.spend(mode, 1, mode));
    assert.deepEqual((await callsOf(store).check(batch)).levelsTicks, [0, 0, 0]);
    assert.deepEqual((await callsOf(store).check(batch)).levelsTicks, [0, 0, 0]);
  }),

  promise('an empty batch is answered with no levels', async ({ store }) => {
    assert.deepEqual((await callsOf(store).spend([])).levelsTicks, []);
    assert.deepEqual((await callsOf(store).check([])).levelsTicks, []);
    assert.deepEqual((await callsOf(store).charge([])).levelsTicks, []);
    assert.deepEqual((await callsOf(store).refund([])).levelsTicks, []);
    await callsOf(store).reset([]);
  }),

  promise('a batch of a hundred buckets is decided as one', async ({ store }) => {
    const batch = Array.from({ length: 100 }, (_, index) => slow.spend(`id${index}`, 1 + (index % 5)));
    const first = await callsOf(store).spend(batch);
    const after = await callsOf(store).check(batch);
    for (const [index, { incrementTicks }] of batch.entries())
      assertTat(after, tatOf(first, incrementTicks, index), index);
  }),

  promise('of many calls at the same time exactly burst are taken', async ({ store }) => {
    const batch: readonly StoreTransaction[] = [slow.spend('a'), slow.spend('b')];
    const readings = await Promise.all(Array.from({ length: 20 }, async () => callsOf(store).spend(batch)));
    assert.equal(readings.filter((reading) => fitted(reading, batch[0]!)).length, slow.burst);
  }),
];
