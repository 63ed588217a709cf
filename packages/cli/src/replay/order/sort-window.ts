import type { EntrySink } from '../entries/entry.ts';
import type { Target } from '../entries/routes.ts';
import type { Identity } from '../keys/identity.ts';

/** The requests of one second, in the order of the log. */
export class Second {
  /** Microseconds since 1970 at its start. */
  readonly startMicros: number;
  readonly micros: number[] = [];
  readonly identities: Identity[] = [];
  readonly targets: Target[] = [];
  readonly statuses: number[] = [];
  /** Microseconds from the arrival of each request to its end; 0 if it is not known or not needed. */
  readonly durations: number[] = [];
  #isSorted = true;

  constructor(startMicros: number) {
    this.startMicros = startMicros;
  }

  get size(): number {
    return this.micros.length;
  }

  add(micros: number, identity: Identity, target: Target, status: number, durationMicros: number): void {
    if (this.micros.length > 0 && micros < this.micros[this.micros.length - 1]!) this.#isSorted = false;
    this.micros.push(micros);
    this.identities.push(identity);
    this.targets.push(target);
    this.statuses.push(status);
    this.durations.push(durationMicros);
  }

  /** Sorts the requests by time, if they are not. Those of one time stay in the order of the log. */
  inOrder(): this {
    if (this.#isSorted) return this;
    const order = [...this.micros.keys()].toSorted((a, b) => this.micros[a]! - this.micros[b]!);
    const { micros, identities, targets, statuses, durations } = this;
    for (const column of [micros, identities, targets, statuses, durations] as unknown[][]) {
      const sorted = order.map((i) => column[i]);
      for (let i = 0; i < sorted.length; i++) column[i] = sorted[i];
    }
    this.#isSorted = true;
    return this;
  }
}

const MICROS = 1_000_000;
/** How many requests are held at most, so that the memory does not depend on the log. */
const MAX_HELD = 400_000;

/**
 * Puts requests in the order of time. Servers write a line when a request ends, so that the lines of a log are not in the
 * order in which the requests arrived.
 */
export class SortWindow implements EntrySink {
  /** Requests that came too late to be sorted in. They are left out. */
  late = 0;
  /** Whether requests had to be passed on before their time, because there were more than {@link MAX_HELD}. */
  wasFull = false;
  readonly #emit: (second: Second) => void;
  readonly #seconds = new Map<number, Second>();
  #current: Second | undefined;
  #held = 0;
  /** All seconds before this one have been passed on. */
  #passed = -Infinity;

  constructor(emit: (second: Second) => void) {
    this.#emit = emit;
  }

  take(micros: number, identity: Identity, target: Target, status: number, durationMicros: number): void {
    let second = this.#current;
    if (second === undefined || micros < second.startMicros || micros >= second.startMicros + MICROS) {
      const start = Math.floor(micros / MICROS);
      if (start < this.#passed) {
        this.late++;
        return;
      }
      second = this.#secondAt(start);
    }
    second.add(micros, identity, target, status, durationMicros);
    if (++this.#held > MAX_HELD) this.#relieve();
  }

  /** Passes on all requests before a time, in microseconds since 1970. */
  passUntil(micros: number): void {
    const end = Math.floor(micros / MICROS);
    if (end <= this.#passed) return;
    const due: number[] = [];
    for (const start of this.#seconds.keys()) if (start < end) due.push(start);

    for (const start of due.toSorted((a, b) => a - b)) this.#pass(start);
    if (Number.isFinite(end)) this.#passed = end;
  }

  #secondAt(start: number): Second {
    let second = this.#seconds.get(start);
    if (second === undefined) this.#seconds.set(start, (second = new Second(start * MICROS)));
    this.#current = second;
    return second;
  }

  #pass(start: number): void {
    const second = this.#seconds.get(start)!;
    this.#seconds.delete(start);
    if (this.#current === second) this.#current = undefined;
    this.#held -= second.size;
    this.#emit(second.inOrder());
  }

  #relieve(): void {
    this.wasFull = true;
    const starts = [...this.#seconds.keys()].toSorted((a, b) => a - b);
    for (const start of starts) {
      if (this.#held <= MAX_HELD / 2) break;
      this.#pass(start);
      // A second may be passed on in several parts.
      this.#passed = start;
    }
  }
}
