import type { Time } from '../../time/time.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';

/** The largest step back of the clock that the time of a store follows, in microseconds. */
const MAX_BEHIND_MICROS = 1_000_000;

/**
 * The time of a memory store: ticks since its creation.
 *
 * A clock that steps back is followed for up to one second, so that an unsteady clock grants nothing. A clock that
 * steps back further was set to another time: the store's time does not change at the step, and continues from there.
 * The distance of TATs to it remains, so that no client has to wait for as long as the clock was set back.
 */
export class StoreTime {
  readonly #time: Time;
  #originMicros: number;
  /** The last time, and the latest time ever, since the origin. */
  #lastMicros = 0;
  #latestMicros = 0;

  constructor(time: Time) {
    this.#time = time;
    this.#originMicros = time.nowMicros();
  }

  nowTicks(): number {
    const readMicros = this.#time.nowMicros();
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
