import { assert } from '../assert.ts';
import { assertTat, fitted, other, slow, tatOf } from '../sample-limit.ts';
import { promise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';
import type { StoreCharge } from '../../store/store.ts';

const T = slow.emissionIntervalTicks;

/** What fits and how far a charge goes are two thresholds of a transaction. */
export const thresholdCases: readonly StoreCase[] = [
  promise('a transaction with less room fits less, and leaves the rest to the others', async ({ store }) => {
    const modest = slow.within({ room: 3 }, slow.spend('id'));
    for (let request = 1; request <= 3; request++) {
      assert.ok(fitted(await callsOf(store).spend([modest]), modest), `request ${request} was denied`);
    }
    assert.ok(!fitted(await callsOf(store).spend([modest]), modest), 'the fourth fitted');
    const rest = slow.spend('id', 2);
    assert.ok(fitted(await callsOf(store).spend([rest]), rest), 'the rest was gone');
  }),

  promise('a charge in a batch takes whether it fits or not, and never denies', async ({ store }) => {
    const taken = await callsOf(store).spend([slow.spend('poor', 4)]);
    const batch = [slow.spend('poor', 3, 'charge'), slow.spend('rich', 2)];
    const reading = await callsOf(store).spend(batch);
    assertTat(reading, tatOf(taken, 4 * T), 0);
    assert.deepEqual((await callsOf(store).check(batch)).levelsTicks.length, 2);
    assertTat(await callsOf(store).check(batch), tatOf(reading, 2 * T, 1), 1);
    assert.ok(!fitted(await callsOf(store).check([slow.spend('poor')]), slow.spend('poor')), 'a token was left');
    assert.ok((await callsOf(store).check([slow.spend('poor')])).levelsTicks[0]! <= 5 * T, 'it took more than all');
  }),

  promise('a charge in a batch takes up to its cap, also above what fits', async ({ store }) => {
    const charge = slow.within({ cap: 8 }, slow.spend('id', 20, 'charge'));
    const reading = await callsOf(store).spend([charge]);
    assert.deepEqual(reading.levelsTicks, [0]);
    assertTat(await callsOf(store).check([slow.spend('id')]), tatOf(reading, 8 * T));
    assertTat(await callsOf(store).spend([slow.spend('id')]), tatOf(reading, 8 * T));
    assertTat(await callsOf(store).spend([charge]), tatOf(reading, 8 * T));
  }),

  promise('a charge up to a cap below the debt changes nothing', async ({ store }) => {
    const tat = tatOf(await callsOf(store).spend([slow.within({ cap: 8 }, slow.spend('id', 20, 'charge'))]), 8 * T);
    await callsOf(store).spend([slow.spend('id', 1, 'charge')]);
    assertTat(await callsOf(store).check([slow.spend('id')]), tat);
  }),

  promise(
    'a charge whose increment is its cap raises the level to it, once, and never lowers one',
    async ({ store }) => {
      const to = (tokens: number): StoreCharge => ({ ...slow.charge('id', tokens), capTicks: tokens * T });
      await callsOf(store).charge([slow.charge('id', 2)]);
      const tat = tatOf(await callsOf(store).charge([to(40)]));
      // No look at the bucket cuts what lies above the thresholds of its numbers.
      assert.ok(!fitted(await callsOf(store).spend([slow.spend('id')]), slow.spend('id')), 'a token was left');
      assertTat(await callsOf(store).charge([to(30)]), tat);
      const again = await callsOf(store).charge([to(40)]);
      assert.ok(again.levelsTicks[0]! <= 40 * T, 'the second charge was added to the first');
    },
  ),

  promise('a charge in a batch that is denied takes nothing', async ({ store }) => {
    await callsOf(store).spend([other.spend('empty', 5)]);
    await callsOf(store).spend([slow.spend('id', 2, 'charge'), other.spend('empty')]);
    assert.deepEqual((await callsOf(store).check([slow.spend('id')])).levelsTicks, [0]);
  }),
];
