import { Deadlines, type Scheduler } from '@sluice/core/kit';

/** So many lengths are kept; callers have as many as there are limiters. */
const MAX_LENGTHS = 32;

/** The deadlines of calls: few different ones, each with one sweep for all calls that have it. */
export class CallDeadlines {
  readonly #scheduler: Scheduler;
  readonly #byLength = new Map<number, Deadlines>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Settles as the promise does, or rejects with the error of `makeError` after `deadlineMs` (whole ones, rounded up). */
  race<T>(promise: Promise<T>, deadlineMs: number, makeError: () => unknown): Promise<T> {
    return this.#ofLength(Math.ceil(deadlineMs)).race(promise, makeError);
  }

  /** Lets all that wait miss their deadline now. */
  expireAll(): void {
    for (const deadlines of this.#byLength.values()) deadlines.expireAll();
  }

  #ofLength(deadlineMs: number): Deadlines {
    const known = this.#byLength.get(deadlineMs);
    if (known !== undefined) return known;
    if (this.#byLength.size >= MAX_LENGTHS) this.#dropIdle();
    const deadlines = new Deadlines(deadlineMs, this.#scheduler);
    this.#byLength.set(deadlineMs, deadlines);
    return deadlines;
  }

  #dropIdle(): void {
    for (const [length, { waiting }] of this.#byLength) if (waiting === 0) this.#byLength.delete(length);
  }
}
