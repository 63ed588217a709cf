import { fits, waitFor } from '../rule/gcra.ts';
import { TICKS_PER_MS } from '../rule/ticks.ts';
import { borrowed } from '../store/lent.ts';
import type { StoreReading, StoreTransaction } from '../store/store.ts';

/** The period of a quota that runs by the store's clock. */
export interface PeriodLeft {
  readonly startMs: number;
  readonly endMs: number;
  /** What is left of it. The store's clock is read in whole milliseconds, rounded down: never too short. */
  readonly leftTicks: number;
}

type Bucket = Pick<StoreTransaction, 'calendar' | 'period' | 'slots'>;

/** When a slot will be released is unknown. One second is the shortest wait that Retry-After can express. */
const UNTIL_RELEASED: PeriodLeft = { startMs: 0, endMs: 0, leftTicks: 1000 * TICKS_PER_MS };

/**
 * Returns the running period of a bucket of a reading; `undefined` for a rate. Slots count as a period of no length with
 * one second left.
 */
export function periodLeft(bucket: Bucket, reading: StoreReading, index: number): PeriodLeft | undefined {
  if (bucket.calendar === undefined) return bucket.slots === undefined ? undefined : UNTIL_RELEASED;
  return running(bucket, reading, index);
}

// A function of its own, because it is rare: V8 inlines the short caller.
function running({ calendar, period }: Bucket, { bucketWallMs }: StoreReading, index: number): PeriodLeft {
  const wallMs = bucketWallMs![index]!;
  // The call of the store may have been repeated with another period.
  const isNamed = period !== undefined && wallMs >= period[0] && wallMs < period[2];
  const ends = isNamed ? period : borrowed('calendarNamed')(calendar!).periodAt(wallMs);
  const first = wallMs < ends[1] ? 0 : 1;
  const endMs = ends[first + 1]!;
  return { startMs: ends[first], endMs, leftTicks: (endMs - wallMs) * TICKS_PER_MS };
}

/** Returns the time until the same transaction fits: for a quota, until the end of the period. */
export function ticksUntilFit(
  { incrementTicks, fitTicks }: Pick<StoreTransaction, 'incrementTicks' | 'fitTicks'>,
  level: number,
  left: PeriodLeft | undefined,
): number {
  if (left === undefined) return waitFor(level, incrementTicks, fitTicks);
  return fits(level, incrementTicks, fitTicks) ? 0 : left.leftTicks;
}

/** Returns the time until the bucket is full: for a quota of which something was used, until the end of the period. */
export function ticksUntilFull(level: number, left: PeriodLeft | undefined): number {
  return left === undefined || level === 0 ? level : left.leftTicks;
}
