import type { HostCall } from './host-call.ts';

/** Above this size, calls that have missed their deadline are removed from a queue, whenever it has doubled. */
const FIRST_SWEEP = 1024;

/** Calls that are to be sent. Those that do not wait any more are left out. */
export class CallQueue {
  #calls: HostCall[] = [];
  #next = 0;
  #sweepAt = FIRST_SWEEP;

  /** The number of calls, with those that do not wait any more. */
  get size(): number {
    return this.#calls.length - this.#next;
  }

  add(call: HostCall): void {
    if (this.#calls.length >= this.#sweepAt) this.#sweep();
    this.#calls.push(call);
  }

  /** Adds calls before all others. */
  addFirst(calls: readonly HostCall[]): void {
    this.#calls = [...calls, ...this.#calls.slice(this.#next)];
    this.#next = 0;
  }

  /** Removes and returns the oldest call that waits; undefined if there is none. */
  take(): HostCall | undefined {
    while (this.#next < this.#calls.length) {
      const call = this.#calls[this.#next++]!;
      if (call.isIn) return call;
    }
    this.#calls = [];
    this.#next = 0;
    return undefined;
  }

  /** Fails the calls that were sent to some buckets. */
  failSentTo(id: string, error: unknown): void {
    for (let i = this.#next; i < this.#calls.length; i++) {
      if (this.#calls[i]!.sentTo === id) this.#calls[i]!.fail(error);
    }
  }

  #sweep(): void {
    this.#calls = this.#calls.slice(this.#next).filter(({ isIn }) => isIn);
    this.#next = 0;
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#calls.length);
  }
}
