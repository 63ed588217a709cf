/** One wait for a deadline, and its link in the list: one object for both. */
export interface Wait {
  /** Called at the deadline, unless the wait has ended. */
  miss(): void;
  /** The time of the deadline on the clock, in microseconds. Set when the wait begins. */
  dueMicros: number;
  /** Used by the list, like the next two. */
  isIn: boolean;
  before: Wait | undefined;
  after: Wait | undefined;
}

/**
 * A linked list of waits in the order in which they began. Any of them can be removed at any time. The
 * tables that a Set discards would keep removed waits alive until a full collection.
 */
export class DeadlineQueue {
  #oldest: Wait | undefined;
  #newest: Wait | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Wait | undefined {
    return this.#oldest;
  }

  /** Adds a wait that is in no list, and is due no sooner than those in this list. */
  add(wait: Wait): void {
    wait.isIn = true;
    wait.before = this.#newest;
    if (this.#newest === undefined) this.#oldest = wait;
    else this.#newest.after = wait;
    this.#newest = wait;
    this.#size++;
  }

  /** Removes a wait. Returns whether it was in the list. */
  delete(wait: Wait): boolean {
    if (!wait.isIn) return false;
    const { before, after } = wait;
    if (before === undefined) this.#oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    // A removed object may survive until a full garbage collection, and must not keep younger ones alive.
    wait.before = wait.after = undefined;
    wait.isIn = false;
    this.#size--;
    return true;
  }
}

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
