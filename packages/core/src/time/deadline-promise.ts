import type { Wait } from './deadline-queue.ts';

/**
 * The outcome of a promise with a deadline, and its entry in the queue of deadlines: one object for both, because each
 * call to a remote store creates one. Exactly one of `accept`, `fail` and `miss` is called, once.
 */
export abstract class DeadlinePromise<T> implements Wait {
  readonly outcome: Promise<T>;
  dueMicros = 0;
  isIn = false;
  before: Wait | undefined = undefined;
  after: Wait | undefined = undefined;
  /** Resolves the outcome. */
  protected resolve!: (value: T | PromiseLike<T>) => void;
  /** Rejects the outcome. */
  protected reject!: (error: unknown) => void;

  constructor() {
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Called when the promise has resolved. */
  abstract accept(value: unknown): void;
  /** Called when the promise has rejected. */
  abstract fail(error: unknown): void;
  /** Called at the deadline, if the promise has not settled. */
  abstract miss(): void;
}
