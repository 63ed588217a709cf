/** One wait for a deadline, and its link in the list: one object for both. */
export interface Wait {
  /** Called at the deadline, unless the wait has ended. */
  miss(): void;
  /** The moment of the deadline, on the clock of the scheduler. Set when the wait begins. */
  dueMs: number;
  /** The list's own, like the two below. */
  isIn: boolean;
  before: Wait | undefined;
  after: Wait | undefined;
}

/**
 * Waits in the order in which they began, of which any may end at any time.
 *
 * Not a Set: that lets go of its old tables when it has had many deletions, and each of them refers to the next one. Those
 * that have grown old keep what waits alive until the next full garbage collection, and under load the collector then
 * copies all of it again and again.
 */
export class WaitList {
  #oldest: Wait | undefined;
  #newest: Wait | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Wait | undefined {
    return this.#oldest;
  }

  /** Adds a wait that is in no list yet, and due no sooner than those that are there. */
  add(wait: Wait): void {
    wait.isIn = true;
    wait.before = this.#newest;
    if (this.#newest === undefined) this.#oldest = wait;
    else this.#newest.after = wait;
    this.#newest = wait;
    this.#size++;
  }

  /** Takes a wait out. Says whether it was in. */
  delete(wait: Wait): boolean {
    if (!wait.isIn) return false;
    const { before, after } = wait;
    if (before === undefined) this.#oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    // One that is dead and old must not keep younger ones.
    wait.before = wait.after = undefined;
    wait.isIn = false;
    this.#size--;
    return true;
  }
}
