import { assert } from '../assert.ts';
import type { Awaitable } from '../../async/awaitable.ts';
import { endOfPeriod } from '../../store/calendar-period.ts';
import type { Store, StoreReading } from '../../store/store.ts';
import { assertTat, fitted, slow, tatOf } from '../sample-limit.ts';
import {
  assertLevel,
  COUNT,
  DAY_MS,
  HOUR_MS,
  Quota,
  inShortPeriod,
  quotaOf,
  staleError,
  wallOf,
} from '../sample-quota.ts';
import { promise, type StoreCase, type StoreUnderTest } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

/** A promise of stores with the trait `periods`. */
function ofPeriods(name: string, check: (store: Store, subject: StoreUnderTest) => Promise<void>): StoreCase {
  return promise(name, async (subject) => {
    if (subject.store.traits?.periods === true) await check(subject.store, subject);
  });
}

function levelOf({ levelsTicks }: StoreReading): number | undefined {
  return levelsTicks[0];
}

const staleCalls: readonly (readonly [name: string, call: (store: Store, stale: Quota) => Awaitable<unknown>])[] = [
  ['spend', (store, stale) => callsOf(store).spend([slow.spend('id'), stale.spend('id')])],
  ['check', (store, stale) => callsOf(store).check([slow.spend('id'), stale.spend('id')])],
  ['charge', (store, stale) => callsOf(store).charge([slow.charge('id'), stale.charge('id')])],
  ['refund', (store, stale) => callsOf(store).refund([slow.refund('id'), stale.refund('id')])],
];

/** Buckets whose level falls to 0 at the end of a calendar period: the trait `periods`. */
export const periodCases: readonly StoreCase[] = [
  ofPeriods(
    'exactly count tokens fit into a calendar period, and none comes back in it',
    async (store, { advance }) => {
      const quota = await quotaOf(store);
      for (let request = 1; request <= COUNT; request++) {
        assert.ok(
          fitted(await callsOf(store).spend([quota.spend('id')]), quota.spend('id')),
          `request ${request} was denied`,
        );
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await advance(2);
      }
      assertLevel(await callsOf(store).spend([quota.spend('id')]), COUNT);
      assertLevel(await callsOf(store).check([quota.spend('id')]), COUNT);
      assertLevel(await callsOf(store).check([quota.spend('other')]), 0);
    },
  ),

  ofPeriods('the clock of a bucket with a period is the end of it, always the same', async (store, { advance }) => {
    const quota = await quotaOf(store);
    const before = await wallOf(store);
    const first = await callsOf(store).spend([quota.spend('id', 2)]);
    await advance(2);
    const second = await callsOf(store).check([quota.spend('id')]);
    assertTat(second, tatOf(first, 2));
    assert.deepEqual(first.bucketNowTicks, second.bucketNowTicks);
    assertLevel(second, 2);
    const wallMs = first.bucketWallMs?.[0] ?? NaN;
    assert.ok(wallMs >= before && wallMs <= (await wallOf(store)), `the wall time of the reading is ${wallMs}`);
  }),

  ofPeriods('another calendar is another bucket, for every call', async (store) => {
    const quota = await quotaOf(store);
    const ofCalendar = (calendar?: string) => ({ ...quota.spend('id'), calendar });
    const [first, last, none] = [ofCalendar('month:1:0:UTC'), ofCalendar('month:31:0:Europe/Berlin'), ofCalendar()];
    const levels = async () =>
      (await Promise.all([first, last, none].map((one) => callsOf(store).check([one])))).map(levelOf);
    await callsOf(store).spend([first]);
    assert.deepEqual(await levels(), [1, 0, 0]);
    await callsOf(store).charge([last]);
    await callsOf(store).charge([last]);
    assert.deepEqual(await levels(), [1, 2, 0]);
    await callsOf(store).refund([last]);
    await callsOf(store).spend([none]);
    assert.deepEqual(await levels(), [1, 1, 1]);
    await callsOf(store).reset([{ limit: first.limit, id: first.id, calendar: first.calendar }]);
    assert.deepEqual(await levels(), [0, 1, 1]);
  }),

  ofPeriods(
    'the reset of a bucket with a calendar leaves the rate of the same limit and id unchanged',
    async (store) => {
      const calendar = 'month:1:0:UTC';
      const quota = { ...(await quotaOf(store)).spend('id'), limit: slow.name, calendar };
      await callsOf(store).spend([slow.spend('id')]);
      await callsOf(store).spend([quota]);
      await callsOf(store).reset([{ limit: slow.name, id: 'id', calendar }]);
      assertLevel(await callsOf(store).check([quota]), 0);
      const { levelsTicks } = await callsOf(store).check([slow.spend('id')]);
      assert.ok(levelsTicks[0]! > 0, 'the rate was reset');
    },
  ),

  ofPeriods('all tokens are there again when the next period runs', (store, subject) =>
    inShortPeriod(subject, async (quota, id, pass) => {
      const used = await callsOf(store).spend([quota.spend(id, 4)]);
      await pass();
      const reading = await callsOf(store).spend([quota.spend(id, COUNT)]);
      assertLevel(reading, 0);
      assert.ok(tatOf(reading) > tatOf(used, 4), 'the next period has the same end');
      assert.equal(endOfPeriod(quota.period, reading.bucketWallMs?.[0] ?? NaN), quota.period[2]);
      assertLevel(await callsOf(store).spend([quota.spend(id)]), COUNT);
    }),
  ),

  ofPeriods('callers whose clocks differ count in one period', async (store) => {
    const late = await quotaOf(store);
    // By the clock of this caller the running period has already been over for an hour, and is the second of the two.
    const [start, end] = late.period;
    const early = new Quota([start - HOUR_MS, start, end]);
    await callsOf(store).spend([late.spend('id', 3)]);
    const reading = await callsOf(store).spend([early.spend('id', 2)]);
    assertLevel(reading, 3);
    assert.deepEqual((await callsOf(store).check([late.spend('id')])).bucketNowTicks, reading.bucketNowTicks);
    assertLevel(await callsOf(store).spend([late.spend('id')]), COUNT);
  }),

  ...staleCalls.map(([name, call]) =>
    ofPeriods(`${name} with a stale period is the error ERR_STORE_PERIOD, and changes nothing`, async (store) => {
      const quota = await quotaOf(store);
      const used = await callsOf(store).spend([slow.spend('id', 2), quota.spend('id', 2)]);
      const tats = [tatOf(used, 2 * slow.emissionIntervalTicks, 0), tatOf(used, 2, 1)] as const;
      for (const ms of [DAY_MS, HOUR_MS, -2 * HOUR_MS, NaN]) {
        const { wallMs } = await staleError(() => call(store, quota.later(ms)));
        assert.ok(endOfPeriod(quota.period, wallMs) !== undefined, `the wall time of the error is ${wallMs}`);
      }
      const reading = await callsOf(store).check([slow.spend('id'), quota.spend('id')]);
      for (const [index, tat] of tats.entries()) assertTat(reading, tat, index);
    }),
  ),

  ofPeriods('a batch takes from rates and quotas together, or from none of them', async (store) => {
    const quota = await quotaOf(store);
    const batch = [slow.spend('id', 2), quota.spend('id', 3)];
    const first = await callsOf(store).spend(batch);
    const tats = [tatOf(first, 2 * slow.emissionIntervalTicks, 0), tatOf(first, 3, 1)] as const;
    await callsOf(store).spend(batch);
    await callsOf(store).spend([slow.spend('id', 4), quota.spend('id')]);
    const reading = await callsOf(store).check(batch);
    for (const [index, tat] of tats.entries()) assertTat(reading, tat, index);
    assert.equal(reading.bucketWallMs?.[0], undefined, 'a bucket without a period has a wall time');
  }),

  ofPeriods('one charge and one refund change rates and quotas, each from its own time', async (store) => {
    const quota = await quotaOf(store);
    const charged = await callsOf(store).charge([slow.charge('id', 4), quota.charge('id', 4)]);
    assert.deepEqual(charged.levelsTicks, [4 * slow.emissionIntervalTicks, 4]);
    const tats = [tatOf(charged, 0, 0), tatOf(charged, 0, 1)] as const;
    const reading = await callsOf(store).refund([slow.refund('id', 3, tats[0]), quota.refund('id', 3, tats[1])]);
    assertTat(reading, tats[0] - 3 * slow.emissionIntervalTicks, 0);
    assertTat(reading, tats[1] - 3, 1);
  }),

  ofPeriods('all modes count in a period', async (store) => {
    const quota = await quotaOf(store);
    await callsOf(store).spend([
      quota.spend('a', 3, 'spend-only'),
      quota.spend('b', 9, 'charge'),
      quota.spend('c', 1, 'check-only'),
    ]);
    await callsOf(store).spend([quota.spend('a', 3, 'spend-only')]);
    const { levelsTicks } = await callsOf(store).check([quota.spend('a'), quota.spend('b'), quota.spend('c')]);
    assert.deepEqual(levelsTicks, [3, COUNT, 0]);
  }),

  ofPeriods('charge, refund, cap and reset change the count of a period', async (store) => {
    const quota = await quotaOf(store);
    assertLevel(await callsOf(store).charge([quota.charge('id', 9)]), COUNT);
    assertLevel(await callsOf(store).refund([quota.refund('id', 2)]), 3);
    assertLevel(await callsOf(store).cap([{ ...quota.charge('id'), capTicks: 2 }]), 2);
    assertLevel(await callsOf(store).refund([quota.refund('id', 9)]), 0);
    await callsOf(store).charge([quota.charge('id', 2)]);
    await callsOf(store).reset([{ limit: 'Quota', id: 'id' }]);
    assertLevel(await callsOf(store).check([quota.spend('id')]), 0);
  }),

  ofPeriods('a refund of a decision gives back in its period, and nothing in a later one', (store, subject) =>
    inShortPeriod(subject, async (quota, id, pass) => {
      const tat = tatOf(await callsOf(store).spend([quota.spend(id, 4)]), 4);
      assertLevel(await callsOf(store).refund([quota.refund(id, 1, tat)]), 3);
      await pass();
      await callsOf(store).spend([quota.spend(id, 4)]);
      assertLevel(await callsOf(store).refund([quota.refund(id, 3, tat)]), 4);
    }),
  ),

  ofPeriods('a trillion tokens of a month count exactly, and reach into no other period', (store, subject) =>
    inShortPeriod(
      subject,
      async (quota, id, pass) => {
        const most = 10 ** 12;
        const spend = async (cost: number) => callsOf(store).spend([quota.spendOf(most, id, cost)]);
        const tat = tatOf(await spend(most - 1), most - 1);
        assertLevel(await spend(2), most - 1);
        assertLevel(await spend(1), most - 1);
        assertLevel(await spend(1), most);
        assertLevel(await callsOf(store).refund([quota.refund(id, 2, tat)]), most - 2);
        assertLevel(await callsOf(store).charge([{ ...quota.charge(id, most), capTicks: most }]), most);
        await pass();
        assertLevel(await spend(most), 0);
        assertLevel(await callsOf(store).refund([quota.refund(id, 3, tat)]), most);
        assertLevel(await callsOf(store).cap([{ ...quota.charge(id), capTicks: 1 }]), 1);
      },
      30 * DAY_MS,
    ),
  ),

  ofPeriods('all tokens of a day count exactly, though the next day has 23 hours', async (store) => {
    const end = (await wallOf(store)) + HOUR_MS;
    const quota = new Quota([end - DAY_MS, end, end + 23 * HOUR_MS]);
    const most = 1000 * DAY_MS;
    const tat = tatOf(await callsOf(store).spend([quota.spendOf(most, 'id', most)]), most);
    assertLevel(await callsOf(store).refund([quota.refund('id', 1, tat)]), most - 1);
    assertLevel(await callsOf(store).spend([quota.spendOf(most, 'id', 1)]), most - 1);
    assertLevel(await callsOf(store).cap([{ ...quota.charge('id'), capTicks: most - 2 }]), most - 2);
  }),

  ofPeriods('of many calls at the same time exactly count are taken in a period', async (store) => {
    const quota = await quotaOf(store);
    const batch = [quota.spend('a'), quota.spend('b')];
    const readings = await Promise.all(Array.from({ length: 20 }, async () => callsOf(store).spend(batch)));
    assert.equal(readings.filter((reading) => fitted(reading, batch[0]!)).length, COUNT);
  }),

  ofPeriods('each bucket of a batch has a period of its own', async (store) => {
    const [hour, day] = [await quotaOf(store), await quotaOf(store, HOUR_MS, DAY_MS)];
    const reading = await callsOf(store).spend([day.spend('day', 2), slow.spend('id'), hour.spend('hour', 3)]);
    const after = await callsOf(store).check([hour.spend('hour'), day.spend('day')]);
    assert.deepEqual(after.levelsTicks, [3, 2]);
    assertTat(after, tatOf(reading, 3, 2), 0);
    assertTat(after, tatOf(reading, 2, 0), 1);
    const unitsPerMs = (after.bucketNowTicks![1]! - after.bucketNowTicks![0]!) / (day.period[1] - hour.period[1]);
    assert.ok(unitsPerMs >= 2000, `the clocks of the buckets count ${unitsPerMs} in a millisecond`);
  }),

  ofPeriods('each alternative has the ends of its own periods', async (store) => {
    const [hour, day] = [await quotaOf(store), await quotaOf(store, HOUR_MS, DAY_MS)];
    await callsOf(store).spend([hour.spend('used', COUNT)]);
    const alternatives = [[slow.spend('id'), hour.spend('used')], [day.spend('id', 2)], [hour.spend('id')]];
    const readings = await callsOf(store).spendFirst(alternatives);
    assert.deepEqual(
      readings.map(({ levelsTicks }) => levelsTicks),
      [[0, COUNT], [0]],
    );
    const [denied, passed] = readings;
    assertTat(await callsOf(store).check([hour.spend('used')]), tatOf(denied!, 0, 1));
    assertTat(await callsOf(store).check([day.spend('id')]), tatOf(passed!, 2));
    assert.equal(endOfPeriod(hour.period, denied!.bucketWallMs![1]!), hour.period[1]);
    assert.equal(endOfPeriod(day.period, passed!.bucketWallMs![0]!), day.period[1]);
  }),

  ofPeriods('only an alternative that is tried can be stale', async (store) => {
    const quota = await quotaOf(store);
    await callsOf(store).spend([quota.spend('used', COUNT)]);
    const stale = [quota.spend('used'), quota.later(DAY_MS).spend('id')];
    const readings = await callsOf(store).spendFirst([[quota.spend('id')], stale, [slow.spend('next')]]);
    assert.equal(readings.length, 1);
    await staleError(() => callsOf(store).spendFirst([[quota.spend('used')], stale, [slow.spend('next')]]));
    const { levelsTicks } = await callsOf(store).check([quota.spend('id'), slow.spend('next')]);
    assert.deepEqual(levelsTicks, [1, 0]);
  }),
];
