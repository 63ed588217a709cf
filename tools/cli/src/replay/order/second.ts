import { copyBytes } from '../entries/copy-bytes.ts';
import type { Target } from '../entries/routes.ts';
import { grown, type Identity } from '../keys/client-table.ts';

const [FIRST_ROWS, FIRST_BYTES] = [16, 512];
/** What a request needs beside its packed fields: a row of all columns. */
export const ROW_BYTES = 26;

/** Finds the ids of a request in its packed fields. */
export type FindIdentity = (packed: Buffer, start: number, end: number) => Identity;

/** A request of a {@link Second}. */
export interface LoggedRequest {
  /** When it arrived, in microseconds since 1970. */
  readonly micros: number;
  readonly identity: Identity;
  readonly target: Target;
  /** The status of its response; 0 if it is not known. */
  readonly status: number;
  /** From its arrival to its end; 0 if it is not known or not needed. */
  readonly durationMicros: number;
}

/**
 * The requests of one second, in typed arrays. Many seconds are kept at a time: objects would need several times the memory,
 * and the garbage collector would have to visit them. The ids of a request are therefore found when it is read.
 */
export class Second {
  /** Microseconds since 1970 at its start. */
  startMicros = 0;
  size = 0;
  readonly #identityOf: FindIdentity;
  #offsets = new Uint32Array(FIRST_ROWS);
  #statuses = new Uint16Array(FIRST_ROWS);
  #durations = new Float64Array(FIRST_ROWS);
  readonly #targets: Target[] = [];
  /** Where the packed fields of each request end. */
  #ends = new Uint32Array(FIRST_ROWS);
  #packed = Buffer.alloc(FIRST_BYTES);
  #isSorted = true;
  /** The rows in the order of time, once they are not in it. */
  #order: Uint32Array | undefined;

  constructor(identityOf: FindIdentity) {
    this.#identityOf = identityOf;
  }

  /** The bytes of its requests. */
  get bytes(): number {
    return ROW_BYTES * this.size + this.#endOf(this.size - 1);
  }

  /** The bytes that it could have without growing, about. */
  get capacity(): number {
    return ROW_BYTES * this.#ends.length + this.#packed.length;
  }

  /** Forgets its requests, and begins another second. */
  begin(startMicros: number): void {
    this.startMicros = startMicros;
    this.size = 0;
    this.#isSorted = true;
    this.#order = undefined;
  }

  /** @param length - How many bytes of `packed` are those of the request. */
  add(micros: number, packed: Buffer, length: number, target: Target, status: number, durationMicros: number): void {
    const row = this.size++;
    const start = this.#endOf(row - 1);
    if (row === this.#ends.length) this.#growRows();
    if (start + length > this.#packed.length) this.#growPacked(start + length);
    const offset = micros - this.startMicros;
    if (row > 0 && offset < this.#offsets[row - 1]!) this.#isSorted = false;
    this.#offsets[row] = offset;
    this.#statuses[row] = status;
    this.#durations[row] = durationMicros;
    this.#targets[row] = target;
    this.#ends[row] = start + length;
    copyBytes(packed, 0, this.#packed, start, length);
  }

  /** Sorts its requests by time, if they are not. Requests of one time stay in the order of the log. */
  sort(): void {
    if (this.#isSorted) return;
    const offsets = this.#offsets;
    const rows = Uint32Array.from({ length: this.size }, (_, row) => row);
    this.#order = rows.toSorted((a, b) => offsets[a]! - offsets[b]!);
  }

  /** Returns when a request arrived, in microseconds since 1970. */
  microsOf(index: number): number {
    return this.startMicros + this.#offsets[this.#rowOf(index)]!;
  }

  /** Returns a request, counted from 0 in the order of time. Each has to be read once: it counts those without an id. */
  request(index: number): LoggedRequest {
    const row = this.#rowOf(index);
    return {
      micros: this.startMicros + this.#offsets[row]!,
      identity: this.#identityOf(this.#packed, this.#endOf(row - 1), this.#ends[row]!),
      target: this.#targets[row]!,
      status: this.#statuses[row]!,
      durationMicros: this.#durations[row]!,
    };
  }

  #rowOf(index: number): number {
    return this.#order === undefined ? index : this.#order[index]!;
  }

  #endOf(row: number): number {
    return row < 0 ? 0 : this.#ends[row]!;
  }

  #growRows(): void {
    const rows = 2 * this.#ends.length;
    this.#offsets = grown(this.#offsets, rows, Uint32Array);
    this.#ends = grown(this.#ends, rows, Uint32Array);
    this.#statuses = grown(this.#statuses, rows, Uint16Array);
    this.#durations = grown(this.#durations, rows, Float64Array);
  }

  #growPacked(needed: number): void {
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#packed.length));
    this.#packed.copy(larger);
    this.#packed = larger;
  }
}
