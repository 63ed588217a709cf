import assert from 'node:assert/strict';
import type { Awaitable } from '../../async/awaitable.ts';
import { endOfPeriod, StalePeriodError, type CalendarPeriod } from '../../store/calendar-period.ts';
import type { Mode, Store, StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '../../store/store.ts';
import { assertTat, fitted, slow, tatOf } from '../sample-limit.ts';
import {
  promise,
  steeredPromise,
  type SteeredStoreCase,
  type SteeredStoreUnderTest,
  type StoreCase,
  type StoreUnderTest,
} from '../store-case.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const COUNT = 5;
const LONG_PAST: CalendarPeriod = [-9e12, -9e12 + HOUR_MS, -9e12 + 2 * HOUR_MS];

/** The entries of batches for a quota of five tokens. One token is one tick. */
class Quota {
  readonly period: CalendarPeriod;

  constructor(period: CalendarPeriod) {
    this.period = period;
  }

  /** The quota as a caller names it whose clock shows a later period. */
  later(ms: number): Quota {
    const [start, end, next] = this.period;
    return new Quota([start + ms, end + ms, next + ms]);
  }

  spend(id: string, cost = 1, mode: Mode = 'check-and-spend'): StoreTransaction {
    return { ...this.charge(id, cost), fitTicks: COUNT, mode };
  }

  charge(id: string, cost = 1): StoreCharge {
    return { limit: 'Quota', id, incrementTicks: cost, capTicks: COUNT, period: this.period };
  }

  refund(id: string, cost = 1, tatAfterSpendTicks?: number): StoreRefund {
    return { ...this.charge(id, cost), tatAfterSpendTicks };
  }
}

/** A quota whose period has run for half an hour by the store's wall clock, and ends after `leftMs`. */
async function quotaOf(store: Store, leftMs = HOUR_MS / 2): Promise<Quota> {
  const end = (await wallOf(store)) + leftMs;
  return new Quota([end - HOUR_MS, end, end + HOUR_MS]);
}

/** The store's wall clock, from the error for a stale period. */
async function wallOf(store: Store): Promise<number> {
  return (await staleError(() => store.check([new Quota(LONG_PAST).spend('any')]))).wallMs;
}

async function staleError(call: () => Awaitable<unknown>): Promise<StalePeriodError> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof StalePeriodError, `a stale period was rejected with ${String(error)}`);
    assert.equal(error.code, 'ERR_STORE_PERIOD');
    assert.ok(Number.isInteger(error.wallMs), 'the error has no wall time');
    return error;
  }
  throw new assert.AssertionError({ message: 'a call with a stale period was not rejected' });
}

function assertLevel({ levelsTicks }: StoreReading, level: number): void {
  assert.deepEqual(levelsTicks, [level]);
}

/** A promise of stores with the trait `periods`. */
function ofPeriods(name: string, check: (store: Store, subject: StoreUnderTest) => Promise<void>): StoreCase {
  return promise(name, async (subject) => {
    if (subject.store.traits?.periods === true) await check(subject.store, subject);
  });
}

function steeredOfPeriods(
  name: string,
  check: (store: Store, subject: SteeredStoreUnderTest) => Promise<void>,
): SteeredStoreCase {
  return steeredPromise(name, async (subject) => {
    if (subject.store.traits?.periods === true) await check(subject.store, subject);
  });
}

const staleCalls: readonly (readonly [name: string, call: (store: Store, stale: Quota) => Awaitable<unknown>])[] = [
  ['spend', (store, stale) => store.spend([slow.spend('id'), stale.spend('id')])],
  ['check', (store, stale) => store.check([slow.spend('id'), stale.spend('id')])],
  ['charge', (store, stale) => store.charge([slow.charge('id'), stale.charge('id')])],
  ['refund', (store, stale) => store.refund([slow.refund('id'), stale.refund('id')])],
];

/** Buckets whose level falls to 0 at the end of a calendar period: the trait `periods`. */
export const periodCases: readonly (StoreCase | SteeredStoreCase)[] = [
  ofPeriods(
    'exactly count tokens fit into a calendar period, and none comes back in it',
    async (store, { advance }) => {
      const quota = await quotaOf(store);
      for (let request = 1; request <= COUNT; request++) {
        assert.ok(fitted(await store.spend([quota.spend('id')]), quota.spend('id')), `request ${request} was denied`);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await advance(2);
      }
      assertLevel(await store.spend([quota.spend('id')]), COUNT);
      assertLevel(await store.check([quota.spend('id')]), COUNT);
      assertLevel(await store.check([quota.spend('other')]), 0);
    },
  ),

  ofPeriods('the clock of a bucket with a period is the end of it, always the same', async (store, { advance }) => {
    const quota = await quotaOf(store);
    const before = await wallOf(store);
    const first = await store.spend([quota.spend('id', 2)]);
    await advance(2);
    const second = await store.check([quota.spend('id')]);
    assertTat(second, tatOf(first, 2));
    assert.deepEqual(first.bucketNowTicks, second.bucketNowTicks);
    assertLevel(second, 2);
    const wallMs = first.bucketWallMs?.[0] ?? NaN;
    assert.ok(wallMs >= before && wallMs <= (await wallOf(store)), `the wall time of the reading is ${wallMs}`);
  }),

  ofPeriods('all tokens are there again when the next period runs', async (store, { advance }) => {
    const quota = await quotaOf(store, 400);
    const used = await store.spend([quota.spend('id', 4)]);
    await advance(420);
    const reading = await store.spend([quota.spend('id', COUNT)]);
    assertLevel(reading, 0);
    assert.ok(tatOf(reading) > tatOf(used, 4), 'the next period has the same end');
    assert.equal(endOfPeriod(quota.period, reading.bucketWallMs?.[0] ?? NaN), quota.period[2]);
    assertLevel(await store.spend([quota.spend('id')]), COUNT);
  }),

  ofPeriods('callers whose clocks differ count in one period', async (store) => {
    const late = await quotaOf(store);
    // By the clock of this caller the running period has already been over for an hour, and is the second of the two.
    const [start, end] = late.period;
    const early = new Quota([start - HOUR_MS, start, end]);
    await store.spend([late.spend('id', 3)]);
    const reading = await store.spend([early.spend('id', 2)]);
    assertLevel(reading, 3);
    assert.deepEqual((await store.check([late.spend('id')])).bucketNowTicks, reading.bucketNowTicks);
    assertLevel(await store.spend([late.spend('id')]), COUNT);
  }),

  ...staleCalls.map(([name, call]) =>
    ofPeriods(`${name} with a stale period is the error ERR_STORE_PERIOD, and changes nothing`, async (store) => {
      const quota = await quotaOf(store);
      const used = await store.spend([slow.spend('id', 2), quota.spend('id', 2)]);
      const tats = [tatOf(used, 2 * slow.emissionIntervalTicks, 0), tatOf(used, 2, 1)] as const;
      for (const ms of [DAY_MS, HOUR_MS, -2 * HOUR_MS, NaN]) {
        const { wallMs } = await staleError(() => call(store, quota.later(ms)));
        assert.ok(endOfPeriod(quota.period, wallMs) !== undefined, `the wall time of the error is ${wallMs}`);
      }
      const reading = await store.check([slow.spend('id'), quota.spend('id')]);
      for (const [index, tat] of tats.entries()) assertTat(reading, tat, index);
    }),
  ),

  ofPeriods('a batch takes from rates and quotas together, or from none of them', async (store) => {
    const quota = await quotaOf(store);
    const batch = [slow.spend('id', 2), quota.spend('id', 3)];
    const first = await store.spend(batch);
    const tats = [tatOf(first, 2 * slow.emissionIntervalTicks, 0), tatOf(first, 3, 1)] as const;
    await store.spend(batch);
    await store.spend([slow.spend('id', 4), quota.spend('id')]);
    const reading = await store.check(batch);
    for (const [index, tat] of tats.entries()) assertTat(reading, tat, index);
    assert.equal(reading.bucketWallMs?.[0], undefined, 'a bucket without a period has a wall time');
  }),

  ofPeriods('one charge and one refund change rates and quotas, each from its own time', async (store) => {
    const quota = await quotaOf(store);
    const charged = await store.charge([slow.charge('id', 4), quota.charge('id', 4)]);
    assert.deepEqual(charged.levelsTicks, [4 * slow.emissionIntervalTicks, 4]);
    const tats = [tatOf(charged, 0, 0), tatOf(charged, 0, 1)] as const;
    const reading = await store.refund([slow.refund('id', 3, tats[0]), quota.refund('id', 3, tats[1])]);
    assertTat(reading, tats[0] - 3 * slow.emissionIntervalTicks, 0);
    assertTat(reading, tats[1] - 3, 1);
  }),

  ofPeriods('all modes count in a period', async (store) => {
    const quota = await quotaOf(store);
    await store.spend([
      quota.spend('a', 3, 'spend-only'),
      quota.spend('b', 9, 'charge'),
      quota.spend('c', 1, 'check-only'),
    ]);
    await store.spend([quota.spend('a', 3, 'spend-only')]);
    const { levelsTicks } = await store.check([quota.spend('a'), quota.spend('b'), quota.spend('c')]);
    assert.deepEqual(levelsTicks, [3, COUNT, 0]);
  }),

  ofPeriods('charge, refund, cap and reset change the count of a period', async (store) => {
    const quota = await quotaOf(store);
    assertLevel(await store.charge([quota.charge('id', 9)]), COUNT);
    assertLevel(await store.refund([quota.refund('id', 2)]), 3);
    assertLevel((await store.cap?.([{ ...quota.charge('id'), capTicks: 2 }])) ?? { nowTicks: 0, levelsTicks: [2] }, 2);
    assertLevel(await store.refund([quota.refund('id', 9)]), 0);
    await store.charge([quota.charge('id', 2)]);
    await store.reset([{ limit: 'Quota', id: 'id' }]);
    assertLevel(await store.check([quota.spend('id')]), 0);
  }),

  ofPeriods(
    'a refund of a decision gives back in its period, and nothing in a later one',
    async (store, { advance }) => {
      const quota = await quotaOf(store, 400);
      const tat = tatOf(await store.spend([quota.spend('id', 4)]), 4);
      assertLevel(await store.refund([quota.refund('id', 1, tat)]), 3);
      await advance(420);
      await store.spend([quota.spend('id', 4)]);
      assertLevel(await store.refund([quota.refund('id', 3, tat)]), 4);
    },
  ),

  ofPeriods('of many calls at the same time exactly count are taken in a period', async (store) => {
    const quota = await quotaOf(store);
    const batch = [quota.spend('a'), quota.spend('b')];
    const readings = await Promise.all(Array.from({ length: 20 }, async () => store.spend(batch)));
    assert.equal(readings.filter((reading) => fitted(reading, batch[0]!)).length, COUNT);
  }),

  ofPeriods('an alternative may count in a period', async (store) => {
    if (store.spendFirst === undefined) return;
    const quota = await quotaOf(store);
    await store.spend([quota.spend('used', COUNT)]);
    const readings = await store.spendFirst([[quota.spend('used')], [quota.spend('id', 2)]]);
    assert.equal(readings.length, 2);
    assertTat(await store.check([quota.spend('id')]), tatOf(readings[1]!, 2));
    // Only an alternative that is tried can be stale.
    const stale = [quota.later(DAY_MS).spend('id')];
    assert.equal((await store.spendFirst([[quota.spend('other')], stale])).length, 1);
    await staleError(() => store.spendFirst!([[quota.spend('used')], stale]));
  }),

  steeredOfPeriods('a clock that steps back in a period grants nothing', async (store, { advance, stepBack }) => {
    const quota = await quotaOf(store);
    await advance(1000);
    await store.spend([quota.spend('id', COUNT)]);
    await stepBack(900);
    assertLevel(await store.spend([quota.spend('id')]), COUNT);
  }),

  steeredOfPeriods(
    'a clock that steps back over the end of a period for some seconds loses no count',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store, 1000);
      await store.spend([quota.spend('id', COUNT)]);
      await advance(6000);
      for (let call = 0; call < 100; call++) await store.spend([quota.spend(`other-${call}`)]);
      await store.spend([quota.spend('id', 0)]);
      await store.charge([quota.charge('id', 0)]);
      await store.refund([quota.refund('id', 1)]);
      await stepBack(5500);
      assertLevel(await store.spend([quota.spend('id')]), COUNT);
    },
  ),

  steeredOfPeriods(
    'a bucket that was used in the next period is empty when the clock steps back, and does not change',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store, 1000);
      await advance(2000);
      const next = await store.spend([quota.spend('id', 2)]);
      await stepBack(1500);
      const back = await store.spend([quota.spend('id')]);
      assert.ok(!fitted(back, quota.spend('id')), 'a token of the next period was taken');
      assertTat(back, tatOf(next, 2));
      await store.spend([quota.spend('id', 1, 'spend-only'), quota.spend('other', 1)]);
      await store.charge([quota.charge('id', 1)]);
      await store.refund([quota.refund('id', 1)]);
      await store.refund([quota.refund('id', 1, tatOf(next, 2))]);
      await store.cap?.([{ ...quota.charge('id'), capTicks: 1 }]);
      await advance(1500);
      assertLevel(await store.check([quota.spend('id')]), 2);
    },
  ),

  steeredOfPeriods(
    'a bucket that was used while the clock was far ahead keeps its count, and is full in the next period',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store);
      await advance(400 * DAY_MS);
      await store.spend([quota.later(400 * DAY_MS).spend('id', 3)]);
      await stepBack(400 * DAY_MS);
      const [level] = (await store.check([quota.spend('id')])).levelsTicks;
      assert.ok(level! >= 3 && level! <= COUNT, `the level was set to ${level}`);
      await store.charge([quota.charge('id', COUNT)]);
      assertLevel(await store.check([quota.spend('id')]), COUNT);
      await advance(HOUR_MS);
      assertLevel(await store.spend([quota.spend('id')]), 0);
    },
  ),
];
