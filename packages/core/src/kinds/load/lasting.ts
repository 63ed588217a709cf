import type { Ramp } from './ramp.ts';

/** How long a signal of 1 has to last before the level rises, and one as far below `calm` before it falls. */
const LASTING_MS = 1000;

/**
 * Tells a signal that stays above `busy` or below `calm` from one that is there by chance: requests do not come evenly,
 * so in single intervals a worker is much busier or calmer than on average.
 *
 * It adds up how far and for how long the signal was above `busy`, and subtracts how far and for how long it was below.
 * The other side of the zone is the same. A far excess is therefore noticed at once, and a small one when it lasts.
 *
 * @see E. S. Page, Continuous inspection schemes, Biometrika 41 (1954): the cumulative sum (CUSUM) of a signal.
 */
export class LastingSignal {
  readonly #ramp: Ramp;
  #busyMs = 0;
  #calmMs = 0;

  constructor(ramp: Ramp) {
    this.#ramp = ramp;
  }

  /**
   * Adds a reading, and returns whether the level may follow it.
   *
   * @param signal - 0 to 1.
   * @param elapsedMs - The time since the last reading, at least 0.
   */
  add(signal: number, elapsedMs: number): boolean {
    const { calm, busy } = this.#ramp;
    this.#busyMs = limited(this.#busyMs + ((signal - busy) / (1 - busy)) * elapsedMs);
    this.#calmMs = limited(this.#calmMs + ((calm - signal) / (1 - busy)) * elapsedMs);
    // The sum of four times 250 ms may be less than 1000 ms by a rounding error.
    return Math.max(this.#busyMs, this.#calmMs) > LASTING_MS - 1e-6;
  }
}

/** A limit above makes the sum fall soon when the signal changes. */
function limited(sumMs: number): number {
  return Math.min(LASTING_MS, Math.max(0, sumMs));
}
