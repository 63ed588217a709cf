import type { Placed } from './heap.ts';
import type { QueuedCall } from './queued-call.ts';

/** The waiting calls of one `fair` key: a linked list, first come, first served. */
export class Flow<Call extends QueuedCall> implements Placed {
  place = -1;
  first: Call | undefined = undefined;
  #last: Call | undefined = undefined;
  /** What the key has had, in the virtual time of its queue: where its latest call ends. */
  finish = 0;
  /** The virtual time at which its first call begins. */
  start = 0;
  /** When its latest call left the queue, on the clock. */
  leftMicros = 0;

  append(call: Call): void {
    call.before = this.#last;
    if (this.#last === undefined) this.first = call;
    else this.#last.after = call;
    this.#last = call;
  }

  /** Adds a call before those that came later. There are few before it: it was the first once, or is the last. */
  insert(call: Call): void {
    if (this.#last === undefined || this.#last.number < call.number) return this.append(call);
    let after = this.first;
    while (after !== undefined && after.number < call.number) after = after.after;
    if (after === undefined) return this.append(call);
    if (after.before === undefined) return this.prepend(call);
    call.before = after.before;
    call.after = after;
    call.before.after = after.before = call;
  }

  prepend(call: Call): void {
    call.after = this.first;
    if (this.first === undefined) this.#last = call;
    else this.first.before = call;
    this.first = call;
  }

  remove(call: Call): void {
    const { before, after } = call;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    call.before = call.after = undefined;
  }
}
