import type { Wait } from './deadline-queue.ts';

/**
 * A promise of what comes of another one that has a deadline, and the wait for that: every request to a store far away
 * makes one. Of `accept`, `fail` and `miss` one is called, once.
 */
export abstract class Pending<T> implements Wait {
  readonly outcome: Promise<T>;
  dueMs = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;
  /** Settles the outcome. */
  protected resolve!: (value: T | PromiseLike<T>) => void;
  /** Settles the outcome with an error. */
  protected reject!: (error: unknown) => void;

  constructor() {
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** The promise has resolved. */
  abstract accept(value: unknown): void;
  /** The promise has rejected. */
  abstract fail(error: unknown): void;
  /** Neither has happened before the deadline. */
  abstract miss(): void;
}
