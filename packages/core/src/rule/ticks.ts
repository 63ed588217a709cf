/**
 * The unit of time in all stores: a tick of 1/16 µs. Times are whole numbers of ticks in a double.
 *
 * Clocks read whole microseconds, and an emission interval is rounded down to a tick once, when its limit is defined.
 * From then on every sum and difference is exact below 2^53 ticks (17.8 years from a store's origin), so that exactly
 * `burst` requests pass at one instant. With microseconds in a double this fails: at 7 per second T would be
 * 142857.142857… µs, and a rounding error would deny the seventh of seven requests.
 *
 * A TAT lies ahead by up to the tolerance: in Redis, TATs of a ten-year bucket can exceed 2^53 from late 2033. Other sums
 * that exceed it are harmless, because only their minimum with a cap is used.
 */
export const TICKS_PER_MICRO = 16;
/** Ticks in a millisecond. */
export const TICKS_PER_MS = 16_000;
export const TICKS_PER_SECOND = 16_000_000;

/** Ten years of 365.25 days: the longest time that a bucket may need to fill. */
export const MAX_TOLERANCE_TICKS: number = 3652.5 * 86_400 * TICKS_PER_SECOND;

/**
 * Converts ticks to milliseconds in steps of 0.001, rounded up: a clock of whole microseconds shows the end of the
 * ticks after that time.
 */
export function ceilToMs(ticks: number): number {
  return Math.ceil(ticks / TICKS_PER_MICRO) / 1000;
}

/** Converts ticks to whole seconds, rounded up. */
export function ceilToSeconds(ticks: number): number {
  return Math.ceil(ticks / TICKS_PER_SECOND);
}
