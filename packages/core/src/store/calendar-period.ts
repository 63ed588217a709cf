import { isInstance, shown, SluiceError } from '../checks/errors.ts';

/**
 * A calendar period and the one after it: `[startMs, endMs, nextEndMs]`, in whole milliseconds of Unix time (UTC), with
 * start < end < next end.
 *
 * The level of a bucket with a period does not fall with time. It falls to 0 at the end of the period, all at once. One
 * token is one tick, so the level is the number of tokens taken in the period.
 *
 * **The current period** is chosen by the wall clock of the store, never by that of a caller. A caller with a wrong
 * clock may pass other periods, but computes the same ends:
 *
 * - start ≤ now < end: the period that ends at `endMs`.
 * - end ≤ now < next end: the period that ends at `nextEndMs`.
 * - Otherwise the periods are stale. The store throws {@link StalePeriodError} for the whole call
 *   and changes nothing.
 *
 * **One number for each bucket,** as for all buckets: TAT = at + tokens taken, and level = max(0, TAT − at), where `at`
 * represents the end of the current period. A store chooses the unit of `at`, with at least 2,000 steps per
 * millisecond. The same end must always give the same whole number. The TAT then also shows the period in which it was
 * written. With L = nextEndMs − endMs, in the unit of `at`:
 *
 * - TAT ≤ at: in a past period. The level is 0. Such a bucket is the same as no bucket; but a store keeps it for
 *   some seconds, so that a clock that shows the next period for so long and steps back grants no tokens.
 * - at < TAT ≤ at + 0.75 × L: in the current period.
 * - at + 0.75 × L < TAT ≤ at + 1.75 × L: in the next period, because the clock has stepped back over the end. The level
 *   is TAT − at, so nothing fits. No call changes the bucket, except `reset`. The count continues when the next period
 *   begins.
 * - TAT > at + 1.75 × L: written by a wrong clock. The first call that reads it sets the level to the one that was
 *   written, as after any other error of a clock. A store that does not keep the written level sets it to `capTicks`,
 *   an empty bucket.
 *
 * The caller makes sure that the times are whole numbers in this order; that a period differs from the one before by at
 * most a seventh of its length, like days of 23 to 25 hours and months of 28 to 31 days; and that it has at most 10¹²
 * tokens, and at most 1,000 for each millisecond of it or of a neighbour. Stores do not validate them, like other numbers
 * of a transaction.
 */
export type CalendarPeriod = readonly [startMs: number, endMs: number, nextEndMs: number];

/**
 * Returns the end of the period that is current at a time, in milliseconds of Unix time: `endMs` or `nextEndMs`.
 * Returns `undefined` if the time is in neither of the two periods.
 *
 * @param wallMs - The wall clock of the store, in milliseconds of Unix time.
 */
export function endOfPeriod(period: CalendarPeriod, wallMs: number): number | undefined {
  // Indexes, because a pattern would call the iterator of the array.
  if (wallMs < period[1]) return wallMs >= period[0] ? period[1] : undefined;
  return wallMs < period[2] ? period[2] : undefined;
}

/**
 * Thrown by a store when its wall clock shows a time in neither of the two periods of a transaction. The call has
 * changed nothing. The caller computes the periods again, for `wallMs`, and repeats the call.
 */
export class StalePeriodError extends SluiceError {
  /** The store's wall clock when it rejected the call, in milliseconds of Unix time. */
  readonly wallMs: number;

  /**
   * @param period - The period that was rejected.
   * @param wallMs - The store's wall clock.
   */
  constructor(period: CalendarPeriod, wallMs: number) {
    const [start, end, nextEnd] = period.map(shownTime);
    super(
      'ERR_STORE_PERIOD',
      `The store's clock shows ${shownTime(wallMs)}, but the call was for the periods from ${start} to ${end} and from ` +
        `there to ${nextEnd}. Nothing was changed. If this lasts, set the clock of this process or that of the store.`,
    );
    this.wallMs = wallMs;
  }
}

/** The largest distance of a date from 1970, in milliseconds. */
const MOST_MS = 8.64e15;

/** Whether a thrown value is a {@link StalePeriodError} from which a caller can compute its periods again. */
export function isStalePeriod(error: unknown): error is StalePeriodError {
  return isInstance(error, StalePeriodError) && Number.isInteger(error.wallMs) && isDate(error.wallMs);
}

function isDate(ms: number): boolean {
  return Math.abs(ms) <= MOST_MS;
}

/** Formats a time. An end can be outside of the range of dates. */
function shownTime(ms: number): string {
  return isDate(ms) ? new Date(ms).toISOString() : shown(ms);
}
