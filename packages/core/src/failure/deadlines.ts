import { systemScheduler, type Cancel, type Scheduler } from './scheduler.ts';

interface Waiting {
  readonly dueMs: number;
  readonly miss: () => void;
}

/**
 * One deadline for many promises. All wait equally long, so they come due in the order in which they came, and one
 * timer for the oldest serves them all. There is no timer while nothing waits.
 *
 * When the timer fires, the event loop first takes in what has already arrived: after a stall of the process the
 * answers that lie in its sockets win over the deadline.
 */
export class Deadlines {
  readonly #deadlineMs: number;
  readonly #scheduler: Scheduler;
  /** The oldest first: a Set keeps the order in which it was filled. */
  readonly #waiting = new Set<Waiting>();
  #cancelTimer: Cancel | undefined;

  /** @param deadlineMs - How long each promise has, in milliseconds, more than 0. */
  constructor(deadlineMs: number, scheduler: Scheduler = systemScheduler) {
    this.#deadlineMs = deadlineMs;
    this.#scheduler = scheduler;
  }

  /** How many promises have neither settled nor missed their deadline. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Settles as the promise does, or rejects with the error of `makeError` at the deadline. Whatever the promise does
   * after that is ignored, a rejection too.
   */
  race<T>(promise: PromiseLike<T>, makeError: () => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = { dueMs: this.#scheduler.nowMs() + this.#deadlineMs, miss: () => reject(makeError()) };
      this.#waiting.add(entry);
      if (this.#cancelTimer === undefined) this.#armTimer(this.#deadlineMs);
      // A foreign promise may call back twice, or throw out of `then`: Promise.resolve makes it a good one.
      Promise.resolve(promise).then(this.#settling(entry, resolve), this.#settling(entry, reject));
    });
  }

  /** Lets all that wait miss their deadline now. */
  expireAll(): void {
    for (const entry of this.#waiting) entry.miss();
    this.#waiting.clear();
    this.#clearTimer();
  }

  #settling<T>(entry: Waiting, settle: (outcome: T) => void): (outcome: T) => void {
    return (outcome) => {
      this.#waiting.delete(entry);
      if (this.#waiting.size === 0) this.#clearTimer();
      settle(outcome);
    };
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer = this.#scheduler.after(delayMs, () => {
      const nowMs = this.#scheduler.nowMs();
      this.#cancelTimer = this.#scheduler.afterInput(() => this.#sweep(nowMs));
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  // Only what was due when the timer fired: what came due while the input was taken in has not had its grace.
  #sweep(firedMs: number): void {
    for (const entry of this.#waiting) {
      // The timer was armed for one that has settled since, or it fired a fraction of a millisecond early.
      if (entry.dueMs > firedMs) return this.#armTimer(Math.max(1, Math.ceil(entry.dueMs - this.#scheduler.nowMs())));
      this.#waiting.delete(entry);
      entry.miss();
    }
    this.#cancelTimer = undefined;
  }
}
