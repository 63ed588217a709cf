import type { Clock } from '../../time/clock.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';

/** The farthest that the time of a store is set back, in microseconds. */
const MAX_BEHIND_MICROS = 1_000_000;

/**
 * The time of a memory store: ticks since it was made.
 *
 * A clock that steps back is followed for up to a second, so that a clock that swings grants nothing. A clock that steps
 * back farther was set anew: the store's time stands still for the step and goes on from there. TATs keep their distance to
 * it, so nobody is locked out for as long as the clock was set back.
 */
export class StoreTime {
  readonly #clock: Clock;
  #originMicros: number;
  /** The time that was read last, and the latest that was ever read, since the origin. */
  #lastMicros = 0;
  #latestMicros = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#originMicros = clock.nowMicros();
  }

  nowTicks(): number {
    const readMicros = this.#clock.nowMicros();
    let micros = readMicros - this.#originMicros;
    if (micros < this.#latestMicros - MAX_BEHIND_MICROS) {
      micros = this.#lastMicros;
      this.#originMicros = readMicros - micros;
    } else if (micros > this.#latestMicros) {
      this.#latestMicros = micros;
    }
    this.#lastMicros = micros;
    return micros * TICKS_PER_MICRO;
  }
}
