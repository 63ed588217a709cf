import { assert } from '../assert.ts';
import type { Store } from '../../store/store.ts';
import { assertTat, fitted, tatOf } from '../sample-limit.ts';
import { assertLevel, COUNT, DAY_MS, HOUR_MS, Quota, quotaOf, staleError, wallOf } from '../sample-quota.ts';
import { steeredPromise, type SteeredStoreCase, type SteeredStoreUnderTest } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

/** A promise of stores with the trait `periods`, on a clock that steps. */
function steeredOfPeriods(
  name: string,
  check: (store: Store, subject: SteeredStoreUnderTest) => Promise<void>,
): SteeredStoreCase {
  return steeredPromise(name, async (subject) => {
    if (subject.store.traits?.periods === true) await check(subject.store, subject);
  });
}

/** Buckets with a calendar period at the ends of periods, and when the store's clock steps. */
export const periodClockCases: readonly SteeredStoreCase[] = [
  steeredOfPeriods('the next period begins exactly at the end of the one before', async (store, { advance }) => {
    const quota = await quotaOf(store, 1000);
    await callsOf(store).spend([quota.spend('id', COUNT)]);
    await advance(999);
    assertLevel(await callsOf(store).spend([quota.spend('id')]), COUNT);
    await advance(1);
    assertLevel(await callsOf(store).spend([quota.spend('id')]), 0);
  }),

  steeredOfPeriods('a period includes its first moment, and the next one not its end', async (store, { advance }) => {
    const quota = await quotaOf(store, HOUR_MS, HOUR_MS);
    assertLevel(await callsOf(store).spend([quota.spend('id')]), 0);
    await advance(2 * HOUR_MS - 1);
    assertLevel(await callsOf(store).spend([quota.spend('id')]), 0);
    await advance(1);
    const { wallMs } = await staleError(() => callsOf(store).spend([quota.spend('id')]));
    assert.equal(wallMs, quota.period[2]);
  }),

  steeredOfPeriods('a clock that steps back in a period grants nothing', async (store, { advance, stepBack }) => {
    const quota = await quotaOf(store);
    await advance(1000);
    await callsOf(store).spend([quota.spend('id', COUNT)]);
    await stepBack(900);
    assertLevel(await callsOf(store).spend([quota.spend('id')]), COUNT);
  }),

  steeredOfPeriods(
    'a clock that steps back over the end of a period for some seconds loses no count',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store, 1000);
      await callsOf(store).spend([quota.spend('id', COUNT)]);
      await advance(6000);
      for (let call = 0; call < 100; call++) await callsOf(store).spend([quota.spend(`other-${call}`)]);
      await callsOf(store).spend([quota.spend('id', 0)]);
      await callsOf(store).charge([quota.charge('id', 0)]);
      await callsOf(store).refund([quota.refund('id', 1)]);
      await stepBack(5500);
      assertLevel(await callsOf(store).spend([quota.spend('id')]), COUNT);
    },
  ),

  steeredOfPeriods(
    'a bucket that was used in the next period is empty when the clock steps back, and does not change',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store, 1000);
      await advance(2000);
      const next = await callsOf(store).spend([quota.spend('id', 2)]);
      await stepBack(1500);
      const back = await callsOf(store).spend([quota.spend('id')]);
      assert.ok(!fitted(back, quota.spend('id')), 'a token of the next period was taken');
      assertTat(back, tatOf(next, 2));
      await callsOf(store).spend([quota.spend('id', 1, 'spend-only'), quota.spend('other', 1)]);
      await callsOf(store).charge([quota.charge('id', 1)]);
      await callsOf(store).refund([quota.refund('id', 1)]);
      await callsOf(store).refund([quota.refund('id', 1, tatOf(next, 2))]);
      await callsOf(store).cap([{ ...quota.charge('id'), capTicks: 1 }]);
      await advance(1500);
      assertLevel(await callsOf(store).check([quota.spend('id')]), 2);
    },
  ),

  steeredOfPeriods(
    'a day that was used up is empty, and does not change, when the clock steps back into one of 23 hours',
    async (store, { advance, stepBack }) => {
      const end = (await wallOf(store)) + 1000;
      const start = end - 23 * HOUR_MS;
      const quota = new Quota([start, end, end + DAY_MS]);
      // By the clock of this caller, the day before is not over.
      const behind = new Quota([start - DAY_MS, start, end]);
      const most = 1000 * DAY_MS;
      await advance(2000);
      const next = await callsOf(store).spend([quota.spendOf(most, 'id', most)]);
      await stepBack(1500);
      assertTat(await callsOf(store).spend([behind.spendOf(most, 'id', 1)]), tatOf(next, most));
      await callsOf(store).refund([behind.refund('id', 1)]);
      await advance(1500);
      assertLevel(await callsOf(store).check([quota.spendOf(most, 'id', 1)]), most);
    },
  ),

  steeredOfPeriods(
    'a bucket that was used while the clock was far ahead keeps its count, and is full in the next period',
    async (store, { advance, stepBack }) => {
      const quota = await quotaOf(store);
      await advance(400 * DAY_MS);
      await callsOf(store).spend([quota.later(400 * DAY_MS).spend('id', 3)]);
      await stepBack(400 * DAY_MS);
      const [level] = (await callsOf(store).check([quota.spend('id')])).levelsTicks;
      assert.ok(level! >= 3 && level! <= COUNT, `the level was set to ${level}`);
      await callsOf(store).charge([quota.charge('id', COUNT)]);
      assertLevel(await callsOf(store).check([quota.spend('id')]), COUNT);
      await advance(HOUR_MS);
      assertLevel(await callsOf(store).spend([quota.spend('id')]), 0);
    },
  ),
];
