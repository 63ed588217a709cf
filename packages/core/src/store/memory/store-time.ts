import type { Time } from '../../time/time.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';

/** The largest step back of the clock that the time of a store follows, in microseconds. */
const MAX_BEHIND_MICROS = 1_000_000;

/**
 * The time of a memory store for buckets without a period: ticks since it was first read, because some
 * runtimes have no clock yet while a module is loaded.
 *
 * A clock that steps back is followed for up to one second, so that an unsteady clock grants nothing. A clock that
 * steps back further was set to another time: the store's time does not change at the step, and continues from there.
 * The distance of TATs to it remains, so that no client has to wait for as long as the clock was set back.
 */
export class StoreTime {
  readonly #time: Time;
  /** NaN until the first reading, which takes the way of a clock that was set. */
  #originMicros = Number.NaN;
  /** The last time, and the latest time ever, since the origin. */
  #lastMicros = 0;
  #latestMicros = 0;

  constructor(time: Time) {
    this.#time = time;
  }

  nowTicks(): number {
    const readMicros = this.#time.nowMicros();
    let micros = readMicros - this.#originMicros;
    if (micros > this.#latestMicros) {
      this.#latestMicros = micros;
    } else if (!(micros >= this.#latestMicros - MAX_BEHIND_MICROS)) {
      micros = this.#lastMicros;
      this.#originMicros = readMicros - micros;
    }
    this.#lastMicros = micros;
    return micros * TICKS_PER_MICRO;
  }
}

/**
 * The unit of time for buckets with a calendar period: 1/2048 ms since 1970. Sums with up to 10¹² tokens are exact
 * until the year 2109, whatever the wall clock shows meanwhile. In ticks since 1970 they would not be exact.
 */
const UNITS_PER_MS = 2048;

/**
 * How long buckets are kept after their period, in milliseconds of the wall clock. If the clock steps back over the end
 * of a period by less, no count is lost.
 */
const KEPT_MS = 30_000;

/** The wall clock of a memory store, for buckets with a period. */
export class WallClock {
  readonly #time: Time;

  constructor(time: Time) {
    this.#time = time;
  }

  nowMs(): number {
    return this.#time.wallNow();
  }

  /** The present, in the unit of TATs. */
  now(): number {
    return wallUnits(this.nowMs());
  }

  /** The latest TAT of a bucket that may be dropped, at a time in milliseconds. Default: now. */
  dropTime(wallMs: number = this.nowMs()): number {
    return wallUnits(wallMs - KEPT_MS);
  }
}

/** Converts milliseconds to the unit of TATs on the wall clock. */
export function wallUnits(ms: number): number {
  return ms * UNITS_PER_MS;
}

/** Converts the unit of TATs on the wall clock to milliseconds in steps of 0.001, rounded up. */
export function wallUnitsToMs(units: number): number {
  return Math.ceil((units / UNITS_PER_MS) * 1000) / 1000;
}
