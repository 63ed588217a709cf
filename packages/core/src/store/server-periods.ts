import { TICKS_PER_MS } from '../rule/ticks.ts';
import { endOfPeriod, StalePeriodError, type CalendarPeriod } from './calendar-period.ts';
import type { StoreReading, StoreTransaction } from './store.ts';

// What decide.lua and schema.sql do with periods: their replies contain only levels.

/** A batch of any operation. */
type PeriodBatch = readonly Partial<Pick<StoreTransaction, 'period'>>[];

/** The origin of the server's time in ticks. */
const EPOCH_MS: number = Date.UTC(2026, 0, 1);

/** The level in the reply of the server for a transaction whose periods do not run. */
const STALE = -4;

/** Returns the start of a period, its end and the end of the next one in the server's ticks. */
export function periodTicks(period: CalendarPeriod): readonly number[] {
  return period.map(ticksOf);
}

/**
 * Adds to a reading of the server what a caller must know of periods: the ends that the server chose by the same rule,
 * and its wall clock.
 */
export function withPeriods(batch: PeriodBatch, { nowTicks, levelsTicks }: StoreReading): StoreReading {
  const wallMs = wallMsOf(nowTicks);
  return {
    nowTicks,
    levelsTicks,
    bucketNowTicks: batch.map(({ period }) => (period && periodEndTicks(period, wallMs)) ?? nowTicks),
    bucketWallMs: batch.map(({ period }) => period && wallMs),
  };
}

/** Returns the end of the period that runs, in the server's ticks; undefined if neither of the two runs. */
export function periodEndTicks(period: CalendarPeriod, wallMs: number): number | undefined {
  const endMs = endOfPeriod(period, wallMs);
  return endMs === undefined ? undefined : ticksOf(endMs);
}

/** Returns the error for a batch with a stale period; undefined if it has none. */
export function findStalePeriod(
  batch: PeriodBatch,
  { nowTicks, levelsTicks }: StoreReading,
): StalePeriodError | undefined {
  const stale = batch[levelsTicks.indexOf(STALE)]?.period;
  return stale && new StalePeriodError(stale, wallMsOf(nowTicks));
}

function ticksOf(ms: number): number {
  return (ms - EPOCH_MS) * TICKS_PER_MS;
}

function wallMsOf(nowTicks: number): number {
  return EPOCH_MS + Math.floor(nowTicks / TICKS_PER_MS);
}
