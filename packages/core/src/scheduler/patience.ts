import type { Denial } from './room.ts';

/** Slots are asked for again after 10 to 250 ms, because other processes release them. */
const FIRST_LOOK_MICROS = 10_000;
const LAST_LOOK_MICROS = 250_000;
/**
 * One question is for so many calls at most that come later. More would save few questions, and leave little of what is
 * reserved to a process that is late.
 */
const MOST_LATER_CALLS = 20;
/** Whatever is known, the store is asked once a second: somebody may have reset a bucket, or given tokens back. */
const MOST_MICROS = 1_000_000;

/** How long to wait before the store is asked again. */
export class Patience {
  /** Whether the store answers at once, and is asked by this process alone. */
  readonly isAtOnce: boolean;
  readonly #random: () => number;

  constructor(isAtOnce: boolean, random: () => number = Math.random) {
    this.isAtOnce = isAtOnce;
    this.#random = random;
  }

  /**
   * Returns how much later than at its earliest time a call is asked for, whose tokens take `everyMicros` to come back. What is
   * reserved lasts for `aheadMicros`, so nothing is lost meanwhile, and one question is for several calls. Processes that share
   * a store wait for different times.
   */
  laterMicros(aheadMicros: number, everyMicros: number): number {
    if (this.isAtOnce) return Math.round(aheadMicros / 2);
    return Math.round(Math.min(aheadMicros, MOST_LATER_CALLS * everyMicros) * (0.75 + 0.15 * this.#random()));
  }

  /** @param misses - How often in a row slots have denied the call. */
  after(
    { waitMicros, aheadMicros, everyMicros, isHeld }: Denial,
    misses: number,
  ): { waitMicros: number; calls: number } {
    const laterMicros = this.laterMicros(aheadMicros, everyMicros);
    const wait = Math.max(waitMicros + laterMicros, isHeld ? this.#lookMicros(misses) : 0);
    const calls = everyMicros > 0 && !this.isAtOnce ? 1 + Math.floor(laterMicros / everyMicros) : 1;
    return { waitMicros: Math.max(1, Math.min(wait, MOST_MICROS)), calls };
  }

  #lookMicros(misses: number): number {
    const most = Math.min(LAST_LOOK_MICROS, FIRST_LOOK_MICROS * 2 ** Math.min(misses, 10));
    return Math.round(FIRST_LOOK_MICROS + (most - FIRST_LOOK_MICROS) * this.#random());
  }
}
