/** How a level follows a signal. */
export interface Ramp {
  /** Below this signal the level falls. Above 0, and below `busy`. */
  readonly calm: number;
  /** Above this signal the level rises. Below 1. Between `calm` and `busy`, both included, it stays. */
  readonly busy: number;
  /** In how many milliseconds the level rises from 0 to 1 at a signal of 1. */
  readonly riseMs: number;
  /** In how many milliseconds the level falls from 1 to 0. */
  readonly fallMs: number;
}

/** By how much longer the level takes to rise at a signal just above `busy` than at a signal of 1. */
const SLOWEST_RISE = 5;

/**
 * Returns the level after some time at one signal.
 *
 * A load that is shed shows in the signal only later. The level moves slowly so that it does not overshoot, and it
 * stays in the zone between `calm` and `busy`, where otherwise each correction would call for its opposite.
 *
 * @param level - 0 to 1.
 * @param signal - 0 to 1.
 * @param elapsedMs - At least 0.
 */
export function movedLevel(level: number, signal: number, elapsedMs: number, ramp: Ramp): number {
  const { calm, busy, riseMs, fallMs } = ramp;
  if (signal < calm) return Math.max(0, level - elapsedMs / fallMs);
  if (signal <= busy) return level;
  const slowness = 1 + ((SLOWEST_RISE - 1) * (1 - signal)) / (1 - busy);
  return Math.min(1, level + elapsedMs / (riseMs * slowness));
}
