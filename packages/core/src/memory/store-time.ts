import type { Clock } from '../clock.ts';
import { TICKS_PER_MICRO } from '../ticks.ts';

/** A larger step back than this is a clock that was set anew: the store's time then goes on from where it was. */
const MAX_STEP_BACK_MICROS = 1_000_000;

/**
 * The time of a memory store: ticks since it was made.
 *
 * A clock that steps back by up to a second is followed, so that a clock that swings grants nothing. After a larger step
 * the store's time goes on from its latest moment: TATs written before the step keep their distance to it, and nobody
 * is locked out for as long as the clock was set back.
 */
export class StoreTime {
  readonly #clock: Clock;
  #originMicros: number;
  #latestMicros: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#originMicros = this.#latestMicros = clock.nowMicros();
  }

  nowTicks(): number {
    const micros = this.#clock.nowMicros();
    const stepBackMicros = this.#latestMicros - micros;
    if (stepBackMicros > MAX_STEP_BACK_MICROS) this.#originMicros -= stepBackMicros;
    if (stepBackMicros < 0 || stepBackMicros > MAX_STEP_BACK_MICROS) this.#latestMicros = micros;
    return (micros - this.#originMicros) * TICKS_PER_MICRO;
  }
}
