/**
 * The time grid of all stores: ticks of 1/16 µs, whole numbers in a double.
 *
 * Clocks read whole microseconds and an emission interval is rounded down to a tick once, when its limit is
 * defined. From then on every sum and difference is exact below 2^53 ticks (17.8 years from a store's origin), so
 * exactly `burst` requests pass at one instant. Doubles of microseconds do not do this: at 7 per second T would be
 * 142857.142857… µs, and the seventh of seven would be refused by a rounding error.
 */
export const TICKS_PER_MICRO = 16;
/** The same in a millisecond. */
export const TICKS_PER_MS = 16_000;
export const TICKS_PER_SECOND = 16_000_000;

/** Ten years of 365.25 days: the longest time that a bucket may take to fill. */
export const MAX_TOLERANCE_TICKS: number = 3652.5 * 86_400 * TICKS_PER_SECOND;

/** Milliseconds in steps of 0.001, rounded up: after that long on a clock of whole microseconds the ticks have passed. */
export function ceilToMs(ticks: number): number {
  return Math.ceil(ticks / TICKS_PER_MICRO) / 1000;
}

/** Whole seconds, rounded up. */
export function ceilToSeconds(ticks: number): number {
  return Math.ceil(ticks / TICKS_PER_SECOND);
}
