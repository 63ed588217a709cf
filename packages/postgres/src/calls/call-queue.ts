import type { StoreCall } from './store-call.ts';

/** Above this size, calls that have missed their deadline are removed, whenever the queue has doubled. */
const FIRST_SWEEP = 1024;

/** Calls that are to be sent, in the order of their arrival. Those that do not wait any more are left out. */
export class CallQueue {
  #calls: StoreCall[] = [];
  #next = 0;
  #sweepAt = FIRST_SWEEP;

  /** Whether there is a call, which may not wait any more. */
  get isEmpty(): boolean {
    return this.#next === this.#calls.length;
  }

  add(call: StoreCall): void {
    if (this.#calls.length >= this.#sweepAt) this.#sweep();
    this.#calls.push(call);
  }

  /** Adds calls before all others. */
  addFirst(calls: readonly StoreCall[]): void {
    this.#calls = [...calls, ...this.#calls.slice(this.#next)];
    this.#next = 0;
  }

  /** Removes and returns the oldest calls that wait: one, and more while they have no more than so many buckets together. */
  take(maxBuckets: number): readonly StoreCall[] {
    const taken: StoreCall[] = [];
    let buckets = 0;
    for (; this.#next < this.#calls.length; this.#next++) {
      const call = this.#calls[this.#next]!;
      if (!call.isIn) continue;
      buckets += Math.max(1, call.keys.length);
      if (taken.length > 0 && buckets > maxBuckets) return taken;
      taken.push(call);
    }
    this.#calls = [];
    this.#next = 0;
    return taken;
  }

  #sweep(): void {
    this.#calls = this.#calls.slice(this.#next).filter(({ isIn }) => isIn);
    this.#next = 0;
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#calls.length);
  }
}
