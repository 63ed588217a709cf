import type { EntrySink } from '../entries/entry-reader.ts';
import type { Target } from '../entries/routes.ts';
import { ROW_BYTES, Second, type FindIdentity } from './second.ts';

const MICROS = 1_000_000;
/** The most bytes of requests that are kept, so that the memory does not depend on the log. */
const MAX_BYTES = 32_000_000;
/** The most seconds that are kept to be used again, and the most bytes of each. */
const [MAX_SPARE, MAX_SPARE_BYTES] = [64, 1_000_000];

/**
 * Puts requests in the order of time. Servers write a line when a request ends, so that the lines of a log are not in the
 * order in which the requests arrived.
 */
export class SortWindow implements EntrySink {
  /** Requests of seconds that had to be passed on before their time. They are left out. */
  late = 0;
  /** Whether requests had to be passed on before their time, because there were too many. */
  wasFull = false;
  readonly #identityOf: FindIdentity;
  readonly #emit: (second: Second) => void;
  readonly #seconds = new Map<number, Second>();
  readonly #spare: Second[] = [];
  #current: Second | undefined;
  #bytes = 0;
  /** All seconds before this one have been passed on. */
  #passed = -Infinity;

  /** @param emit - Receives each second once. It is valid during the call only. */
  constructor(identityOf: FindIdentity, emit: (second: Second) => void) {
    this.#identityOf = identityOf;
    this.#emit = emit;
  }

  take(micros: number, packed: Buffer, length: number, target: Target, status: number, durationMicros: number): void {
    let second = this.#current;
    if (second === undefined || micros < second.startMicros || micros >= second.startMicros + MICROS) {
      const start = Math.floor(micros / MICROS);
      if (start < this.#passed) {
        this.late++;
        return;
      }
      second = this.#secondAt(start);
    }
    second.add(micros, packed, length, target, status, durationMicros);
    this.#bytes += ROW_BYTES + length;
    if (this.#bytes > MAX_BYTES) this.#relieve();
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
    if (second === undefined) {
      second = this.#spare.pop() ?? new Second(this.#identityOf);
      second.begin(start * MICROS);
      this.#seconds.set(start, second);
    }
    this.#current = second;
    return second;
  }

  #pass(start: number): void {
    const second = this.#seconds.get(start)!;
    this.#seconds.delete(start);
    if (this.#current === second) this.#current = undefined;
    this.#bytes -= second.bytes;
    second.sort();
    this.#emit(second);
    if (this.#spare.length < MAX_SPARE && second.capacity <= MAX_SPARE_BYTES) this.#spare.push(second);
  }

  #relieve(): void {
    this.wasFull = true;
    const starts = [...this.#seconds.keys()].toSorted((a, b) => a - b);
    for (const start of starts) {
      if (this.#bytes <= MAX_BYTES / 2) break;
      this.#pass(start);
      // A second may be passed on in several parts.
      this.#passed = start;
    }
  }
}
