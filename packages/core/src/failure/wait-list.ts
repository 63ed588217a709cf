/** One wait for a deadline. */
export interface Wait {
  /** The moment of the deadline, on the clock of the scheduler. */
  readonly dueMs: number;
  /** Called at the deadline, unless the wait has ended. */
  readonly onMiss: () => void;
}

interface Link extends Wait {
  isIn: boolean;
  before: Link | undefined;
  after: Link | undefined;
}

/**
 * Waits in the order in which they began, of which any may end at any time.
 *
 * Not a Set: that lets go of its old tables when it has had many deletions, and each of them refers to the next one. Those
 * that have grown old keep what waits alive until the next full garbage collection, and under load the collector then
 * copies all of it again and again.
 */
export class WaitList {
  #oldest: Link | undefined;
  #newest: Link | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get oldest(): Wait | undefined {
    return this.#oldest;
  }

  /** Adds a wait that is due no sooner than those that are there. */
  add(dueMs: number, onMiss: () => void): Wait {
    const link: Link = { dueMs, onMiss, isIn: true, before: this.#newest, after: undefined };
    if (this.#newest === undefined) this.#oldest = link;
    else this.#newest.after = link;
    this.#newest = link;
    this.#size++;
    return link;
  }

  /** Takes a wait out. Says whether it was in. */
  delete(wait: Wait): boolean {
    const link = wait as Link;
    if (!link.isIn) return false;
    const { before, after } = link;
    if (before === undefined) this.#oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    // One that is dead and old must not keep younger ones.
    link.before = link.after = undefined;
    link.isIn = false;
    this.#size--;
    return true;
  }
}
