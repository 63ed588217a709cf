import { Heap } from './heap.ts';
import type { ScheduledCall } from './scheduled-call.ts';

/** What becomes of calls that wait for long. */
interface DeadlinesParts {
  /** Half of its time has passed. */
  readonly promote: (call: ScheduledCall) => void;
  /** Its time is over. */
  readonly expire: (call: ScheduledCall) => void;
}

/** The times at which something happens to calls that wait. */
export class Deadlines {
  readonly #calls = new Heap<ScheduledCall>(isDueBefore);
  readonly #parts: DeadlinesParts;

  constructor(parts: DeadlinesParts) {
    this.#parts = parts;
  }

  get nextMicros(): number {
    return this.#calls.first?.dueMicros ?? Infinity;
  }

  /** All calls that have not begun, in no particular order. */
  get all(): readonly ScheduledCall[] {
    return this.#calls.all;
  }

  add(call: ScheduledCall): void {
    this.#calls.add(call);
  }

  delete(call: ScheduledCall): void {
    this.#calls.delete(call);
  }

  /** The call will begin at a turn that is reserved, also where the event loop is late. */
  reserved(call: ScheduledCall): void {
    this.#calls.move(call);
  }

  pass(nowMicros: number): void {
    for (let call = this.#calls.first; call !== undefined && call.dueMicros <= nowMicros; call = this.#calls.first) {
      this.#calls.delete(call);
      if (nowMicros >= call.untilMicros) this.#parts.expire(call);
      else this.#promote(call);
    }
  }

  #promote(call: ScheduledCall): void {
    call.becomeUrgent();
    this.#calls.add(call);
    this.#parts.promote(call);
  }
}

function isDueBefore(one: ScheduledCall, other: ScheduledCall): boolean {
  return one.dueMicros < other.dueMicros || (one.dueMicros === other.dueMicros && one.number < other.number);
}
