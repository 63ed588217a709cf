import { assert } from '../assert.ts';
import type { Store, StoreReading, StoreTransaction } from '../../store/store.ts';
import { readingsOf, triedOf } from '../../store/alternatives.ts';
import { assertTat, other, slow, tatOf } from '../sample-limit.ts';
import { promise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const T = slow.emissionIntervalTicks;

type Alternatives = readonly (readonly StoreTransaction[])[];

/** Spends alternatives; the readings of those that were tried. */
type SpendFirst = (alternatives: Alternatives) => Promise<readonly StoreReading[]>;

/** A promise about alternatives. */
function ofAlternatives(name: string, check: (store: Store, spendFirst: SpendFirst) => Promise<void>): StoreCase {
  return promise(name, async ({ store }) => {
    await check(store, async (alternatives) => {
      const reading = await store.run({ kind: 'spend', alternatives });
      assertTried(alternatives, reading);
      return readingsOf(alternatives, reading);
    });
  });
}

/** Asserts that a reading says which alternative passed, and has the levels of those that were tried, and no others. */
function assertTried(alternatives: Alternatives, { passed, levelsTicks }: StoreReading): void {
  assert.ok(Number.isInteger(passed), '`passed` is the index of the alternative that passed, or -1');
  const tried = triedOf(alternatives, passed!).flat();
  assert.equal(levelsTicks.length, tried.length, 'the levels of the alternatives that were tried');
}

/** Asserts the TATs of slow buckets. */
async function assertTats(store: Store, tats: Readonly<Record<string, number>>): Promise<void> {
  const ids = Object.keys(tats);
  const reading = await callsOf(store).check(ids.map((id) => slow.spend(id)));
  for (const [index, id] of ids.entries()) assertTat(reading, tats[id]!, index);
}

async function emptied(store: Store, id: string): Promise<number> {
  return tatOf(await callsOf(store).spend([slow.spend(id, 5)]), 5 * T);
}

/** Batches of which the first that passes is taken. */
export const alternativeCases: readonly StoreCase[] = [
  promise(
    'spend and check say which batch passed, the first that fits, or -1 when all are denied',
    async ({ store }) => {
      const said: (number | undefined)[] = [];
      const ask = async (...alternatives: Alternatives) => {
        // The check before the spend: they find the same.
        for (const kind of ['check', 'spend'] as const) said.push((await store.run({ kind, alternatives })).passed);
      };
      const [all, next] = [slow.spend('id', 5), other.spend('id', 5)];
      await ask([all]);
      await ask([all]);
      await ask([slow.spend('id', 1, 'spend-only'), slow.spend('pool', 1, 'charge')]);
      await ask([next, all], [all], [next]);
      await ask([all], [next]);
      await ask([next], []);
      assert.deepEqual(said, [0, 0, -1, -1, 0, 0, 2, 2, -1, -1, 1, 1]);
    },
  ),

  ofAlternatives('the first alternative that passes is taken, and no other is tried', async (store, spendFirst) => {
    const readings = await spendFirst([[slow.spend('a', 2)], [slow.spend('b')]]);
    assert.equal(readings.length, 1, 'the readings end with the alternative that passed');
    assertTat(readings[0]!, 0);
    await assertTats(store, { a: tatOf(readings[0]!, 2 * T), b: 0 });
  }),

  ofAlternatives('the next alternative is tried when one is denied, until one passes', async (store, spendFirst) => {
    const [a, b] = [await emptied(store, 'a'), await emptied(store, 'b')];
    const readings = await spendFirst([[slow.spend('a')], [slow.spend('b')], [slow.spend('c', 3)], [slow.spend('d')]]);
    assert.equal(readings.length, 3, 'the readings end with the alternative that passed');
    for (const [index, tat] of [a, b, 0].entries()) assertTat(readings[index]!, tat);
    await assertTats(store, { a, b, c: tatOf(readings[2]!, 3 * T), d: 0 });
  }),

  ofAlternatives('nothing is taken when all alternatives are denied', async (store, spendFirst) => {
    const tat = await emptied(store, 'empty');
    const readings = await spendFirst([
      [slow.spend('a'), slow.spend('empty')],
      [slow.spend('empty', 2, 'check-only'), slow.spend('b')],
    ]);
    assert.equal(readings.length, 2, 'there is a reading for each alternative');
    for (const [index, tats] of [
      [0, tat],
      [tat, 0],
    ].entries()) {
      for (const [bucket, each] of tats.entries()) assertTat(readings[index]!, each, bucket);
    }
    await assertTats(store, { a: 0, b: 0, empty: tat });
  }),

  ofAlternatives('a denied alternative takes nothing, in whatever mode', async (store, spendFirst) => {
    const empty = await emptied(store, 'empty');
    const modes = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;
    const denied = [...modes.map((mode) => slow.spend(mode, 1, mode)), slow.spend('empty')];
    const readings = await spendFirst([denied, [slow.spend('next')]]);
    const untouched = Object.fromEntries(modes.map((mode) => [mode, 0]));
    await assertTats(store, { ...untouched, empty, next: tatOf(readings.at(-1)!, T) });
  }),

  ofAlternatives('one bucket may be part of several alternatives', async (store, spendFirst) => {
    const empty = await emptied(store, 'empty');
    const readings = await spendFirst([
      [slow.spend('id', 2), slow.spend('empty')],
      [slow.spend('empty'), slow.spend('id', 3)],
      [slow.spend('id', 4)],
    ]);
    assert.equal(readings.length, 3);
    assertTat(readings[1]!, 0, 1);
    await assertTats(store, { id: tatOf(readings[2]!, 4 * T), empty });
  }),

  ofAlternatives('an alternative charges a bucket up to its cap, also above what fits', async (store, spendFirst) => {
    const tat = await emptied(store, 'pool');
    const overdraw = [slow.spend('own'), slow.within({ cap: 8 }, slow.spend('pool', 2, 'charge'))];
    const borrow = [slow.spend('pool')];
    const first = await spendFirst([overdraw, borrow]);
    assert.equal(first.length, 1, 'a charge never denies');
    assertTat(first[0]!, tat, 1);
    await emptied(store, 'used');
    const second = await spendFirst([[slow.spend('used'), ...overdraw], borrow]);
    assert.equal(second.length, 2);
    await assertTats(store, { own: tatOf(first[0]!, T), pool: tat + 2 * T });
  }),

  ofAlternatives('an alternative without transactions passes', async (store, spendFirst) => {
    const tat = await emptied(store, 'empty');
    const readings = await spendFirst([[slow.spend('empty')], [], [slow.spend('next')]]);
    assert.deepEqual(readings[1]?.levelsTicks, []);
    assert.equal(readings.length, 2);
    assert.deepEqual((await spendFirst([[], [slow.spend('next')]])).length, 1);
    await assertTats(store, { empty: tat, next: 0 });
  }),

  ofAlternatives('four alternatives of eight buckets are decided in one call', async (store, spendFirst) => {
    const tat = await emptied(store, '0-7');
    const ids = (row: number) => Array.from({ length: 8 }, (_, column) => `${row}-${column}`);
    const first = [0, 1, 2, 3].map((row) => [...ids(row).slice(0, 7), '0-7'].map((id) => slow.spend(id)));
    assert.equal((await spendFirst(first)).length, 4);
    const readings = await spendFirst([...first.slice(0, 3), ids(3).map((id) => slow.spend(id, 5))]);
    assert.deepEqual(readings.at(-1)?.levelsTicks, Array<number>(8).fill(0));
    await assertTats(store, { '0-7': tat, '0-0': 0, '3-7': tatOf(readings.at(-1)!, 5 * T, 7) });
  }),

  ofAlternatives('of many calls at the same time each alternative gets exactly burst', async (_store, spendFirst) => {
    const alternatives = [[slow.spend('a'), other.spend('a')], [slow.spend('b')]];
    const all = await Promise.all(Array.from({ length: 20 }, () => spendFirst(alternatives)));
    const passed = all.map((readings) => readings.findIndex((reading) => reading.passed === 0));
    const count = (index: number) => passed.filter((each) => each === index).length;
    assert.deepEqual([count(0), count(1), count(-1)], [5, 5, 10]);
  }),

  ofAlternatives('alternatives are answered at once or by a promise, as a spend is', async (store) => {
    const answers = [callsOf(store).spend([]), callsOf(store).spendFirst([[slow.spend('id')], [slow.spend('next')]])];
    const later = answers.map((answer) => answer instanceof Promise);
    await Promise.all(answers);
    assert.equal(later[0], later[1]);
  }),

  ofAlternatives('after close a spend of alternatives is the error ERR_CLOSED', async (store, spendFirst) => {
    await store.close();
    await assert.rejects(async () => spendFirst([[slow.spend('id')], [slow.spend('next')]]), {
      name: 'SluiceError',
      code: 'ERR_CLOSED',
    });
  }),

  ofAlternatives('check finds the first alternative that would pass, and takes nothing', async (store) => {
    const tat = await emptied(store, 'empty');
    const alternatives = [
      [slow.spend('first'), slow.spend('empty')],
      [slow.spend('second', 2), slow.spend('empty', 1, 'spend-only')],
      [slow.spend('third')],
    ];
    const reading = await store.run({ kind: 'check', alternatives });
    assertTried(alternatives, reading);
    assert.equal(readingsOf(alternatives, reading).length, 2);
    await assertTats(store, { empty: tat, first: 0, second: 0, third: 0 });
  }),
];
