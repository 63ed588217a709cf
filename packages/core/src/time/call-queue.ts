import type { Wait } from './deadline-queue.ts';

/** Above this size, calls that have missed their deadline are removed from a queue, whenever it has doubled. */
const FIRST_SWEEP = 1024;

/** Calls that are to be sent, in the order of their arrival. Those that do not wait any more are left out. */
export class CallQueue<Call extends Wait> implements Iterable<Call> {
  #calls: Call[] = [];
  #next = 0;
  #sweepAt = FIRST_SWEEP;

  /** The number of calls, with those that do not wait any more. */
  get size(): number {
    return this.#calls.length - this.#next;
  }

  /** Adds a call behind all others. */
  add(call: Call): void {
    if (this.#calls.length >= this.#sweepAt) this.#sweep();
    this.#calls.push(call);
  }

  /** Adds calls before all others. */
  addFirst(calls: readonly Call[]): void {
    this.#calls = [...calls, ...this.#calls.slice(this.#next)];
    this.#next = 0;
  }

  /** The oldest call that waits; undefined if there is none. */
  get first(): Call | undefined {
    for (; this.#next < this.#calls.length; this.#next++) {
      if (this.#calls[this.#next]!.isIn) return this.#calls[this.#next];
    }
    this.#calls = [];
    this.#next = 0;
    return undefined;
  }

  /** Removes and returns the oldest call that waits; undefined if there is none. */
  take(): Call | undefined {
    const { first } = this;
    if (first !== undefined) this.#next++;
    return first;
  }

  /** The youngest call that waits; undefined if there is none. */
  get last(): Call | undefined {
    if (this.first === undefined) return undefined;
    while (!this.#calls.at(-1)!.isIn) this.#calls.pop();
    return this.#calls.at(-1);
  }

  /** Removes and returns the youngest call that waits; undefined if there is none. */
  takeLast(): Call | undefined {
    const { last } = this;
    if (last !== undefined) this.#calls.pop();
    return last;
  }

  /** Yields the calls from the oldest, with those that do not wait any more. */
  [Symbol.iterator](): ArrayIterator<Call> {
    return this.#calls.slice(this.#next).values();
  }

  #sweep(): void {
    this.#calls = this.#calls.slice(this.#next).filter(({ isIn }) => isIn);
    this.#next = 0;
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#calls.length);
  }
}
