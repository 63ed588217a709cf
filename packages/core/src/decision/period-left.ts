import { fits, waitFor } from '../rule/gcra.ts';
import { TICKS_PER_MS } from '../rule/ticks.ts';
import { known, type PeriodicBucket, type PeriodLeft } from '../store/provided.ts';
import type { StoreReading, StoreTransaction } from '../store/store.ts';
import type { Transaction } from './transaction.ts';

/** When what is held will be released is unknown. One second is the shortest wait that Retry-After can express. */
const UNTIL_RELEASED: PeriodLeft = { startMs: 0, endMs: 0, leftTicks: 1000 * TICKS_PER_MS };

/**
 * Returns the running period of a bucket of a reading; `undefined` for a level that falls with time. What is held counts as
 * a period of no length with one second left.
 */
export function periodLeft(
  bucket: Pick<Transaction, 'rate'> & PeriodicBucket,
  reading: StoreReading,
  index: number,
): PeriodLeft | undefined {
  if (bucket.rate.kind.level === 'resets') return known.periodLeft!(bucket, reading, index);
  return bucket.rate.kind.level === 'held' ? UNTIL_RELEASED : undefined;
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
