import type { Time } from '@sluice/core';
import { Deadlines } from '@sluice/core/kit';

/** Above this number of different deadlines, unused ones are dropped. Usually each limiter has one deadline. */
const MAX_LENGTHS = 32;

/** The deadlines of calls. All calls with the same deadline share one timer. */
export class CallDeadlines {
  readonly #time: Time;
  readonly #byLength = new Map<number, Deadlines>();

  constructor(time: Time) {
    this.#time = time;
  }

  /**
   * Settles as the promise does, or rejects with the error of `makeError` after `deadlineMs`, rounded up to whole ones.
   */
  race<T>(promise: Promise<T>, deadlineMs: number, makeError: () => unknown): Promise<T> {
    return this.#ofLength(Math.ceil(deadlineMs)).race(promise, makeError);
  }

  /** Rejects all waiting calls now, as if their deadlines had passed. */
  expireAll(): void {
    for (const deadlines of this.#byLength.values()) deadlines.expireAll();
  }

  #ofLength(deadlineMs: number): Deadlines {
    const known = this.#byLength.get(deadlineMs);
    if (known !== undefined) return known;
    if (this.#byLength.size >= MAX_LENGTHS) this.#dropIdle();
    const deadlines = new Deadlines(deadlineMs, this.#time);
    this.#byLength.set(deadlineMs, deadlines);
    return deadlines;
  }

  #dropIdle(): void {
    for (const [length, { waiting }] of this.#byLength) if (waiting === 0) this.#byLength.delete(length);
  }
}
