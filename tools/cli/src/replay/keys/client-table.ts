import { randomBytes } from 'node:crypto';

const FIRST_ROWS = 1024;

/** What the bounds of a log of whole seconds need of each client. Times are in ticks since the start of the log. */
export interface BoundColumns {
  /** The requests that are denied at least, and at most. */
  readonly denied: Uint32Array[];
  /** The TAT with the fewest and with the most denials. */
  best: Float64Array;
  worst: Float64Array;
  /** How much later `worst` is than a request at the current time finds it, and when a second from that time is over. */
  gap: Float64Array;
  end: Float64Array;
}

/** Where a client is in a {@link ClientTable}. */
export interface ClientPlace {
  /** The low 32 bits of its hash. */
  readonly hash: number;
  /** The row that it had when its place was found; -1 if it was not in the sample. */
  readonly row: number;
}

/** The id of a client at one limit, with its place in the table of clients. */
export interface ClientId extends ClientPlace {
  /** The canonical id. */
  readonly text: string;
}

/** The ids of one request: for each limit, in their order. Null for a limit that does not apply to it. */
export type Identity = readonly (ClientId | null)[];

/**
 * Figures of each client of a limit, in typed arrays: a log may have millions of clients. Ids are not stored, only 64 bits of
 * a hash.
 *
 * If there are more clients than rows, the table keeps a sample of them: every second, then every fourth, and so on. They
 * are chosen by their hash, so the figures of those that it keeps are complete.
 */
export class ClientTable {
  /** One client in so many is in the table: 1 while all are. */
  sampling = 1;
  requests: Uint32Array = new Uint32Array(FIRST_ROWS);
  /** For each pass, how many requests of the client were denied by the limit. */
  readonly denied: Uint32Array[];
  /** For each pass, what the bucket lacks if nothing is ever denied: its TAT in microseconds × 16, the tokens of a period, or slots. */
  readonly level: Float64Array[];
  /** For each pass, the smallest burst that never denies the client, in tokens. */
  readonly need: Float64Array[];
  /** 1 for clients whose numbers are not those of the limit, so that its burst does not apply to them. */
  overridden: Uint8Array = new Uint8Array(FIRST_ROWS);
  /** Undefined for a table without bounds. */
  readonly bounds: BoundColumns | undefined;
  readonly #maxRows: number;
  readonly #seed = randomBytes(8).readInt32LE(0);
  #rows = 0;
  readonly #free: number[] = [];
  #low: Int32Array = new Int32Array(FIRST_ROWS);
  #high: Int32Array = new Int32Array(FIRST_ROWS);
  #isUsed: Uint8Array = new Uint8Array(FIRST_ROWS);
  /** Row numbers + 1 by hash; 0 is free. */
  #index: Int32Array = new Int32Array(2 * FIRST_ROWS);

  constructor(maxRows: number, passes: number, { hasBounds = false }: { readonly hasBounds?: boolean } = {}) {
    this.#maxRows = maxRows;
    this.bounds = hasBounds ? firstBounds() : undefined;
    this.denied = Array.from({ length: passes }, () => new Uint32Array(FIRST_ROWS));
    this.level = Array.from({ length: passes }, () => new Float64Array(FIRST_ROWS));
    this.need = Array.from({ length: passes }, () => new Float64Array(FIRST_ROWS));
  }

  /** How many clients in the table have requests to which the limit applies. */
  get size(): number {
    return [...this.used()].length;
  }

  /** Returns the row of a client; -1 if it is not in the sample, or no longer, so that its row may be another's. */
  rowOf({ hash, row }: ClientPlace): number {
    return this.#keeps(hash) ? row : -1;
  }

  /** Returns the place of a client, which is in the table afterwards if it is in the sample. */
  placeOf(id: string): ClientPlace {
    const [low, high] = this.#hashOf(id);
    if (!this.#keeps(low)) return { hash: low, row: -1 };
    let at = this.#find(low, high);
    if (this.#index[at] !== 0) return { hash: low, row: this.#index[at]! - 1 };
    if (this.#usedRows >= this.#maxRows) {
      while (this.#usedRows >= this.#maxRows) this.#halve();
      if (!this.#keeps(low)) return { hash: low, row: -1 };
    }
    const row = this.#newRow(low, high);
    at = this.#find(low, high);
    this.#index[at] = row + 1;
    return { hash: low, row };
  }

  /** The rows of all clients that have requests to which the limit applies. */
  *used(): Generator<number> {
    for (let row = 0; row < this.#rows; row++) if (this.requests[row]! > 0) yield row;
  }

  get #usedRows(): number {
    return this.#rows - this.#free.length;
  }

  /** Whether a client with this hash is in the sample. */
  #keeps(hash: number): boolean {
    return (hash & (this.sampling - 1)) === 0;
  }

  /** Seeded, so that nobody can choose addresses that are slow to find; 64 bits, so that two clients are never one. */
  #hashOf(id: string): [number, number] {
    let a = this.#seed ^ 0xdeadbeef;
    let b = this.#seed ^ 0x41c6ce57;
    for (let i = 0; i < id.length; i++) {
      const code = id.charCodeAt(i);
      a = Math.imul(a ^ code, 0x9e3779b1);
      b = Math.imul(b ^ code, 0x5f356495);
    }
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    return [a | 0, b | 0];
  }

  /** Returns the place of a hash in the index, or the free place where it belongs. */
  #find(low: number, high: number): number {
    const mask = this.#index.length - 1;
    // The low bits are those of the sample, which are all 0.
    let at = (high ^ (low >>> 8)) & mask;
    for (let row = this.#index[at]!; row !== 0; row = this.#index[at]!) {
      if (this.#low[row - 1] === low && this.#high[row - 1] === high) break;
      at = (at + 1) & mask;
    }
    return at;
  }

  #newRow(low: number, high: number): number {
    const row = this.#free.pop() ?? this.#rows++;
    if (row >= this.requests.length) this.#grow();
    this.#low[row] = low;
    this.#high[row] = high;
    this.#isUsed[row] = 1;
    return row;
  }

  #grow(): void {
    const rows = 2 * this.requests.length;
    this.requests = grown(this.requests, rows, Uint32Array);
    this.overridden = grown(this.overridden, rows, Uint8Array);
    this.#low = grown(this.#low, rows, Int32Array);
    this.#high = grown(this.#high, rows, Int32Array);
    this.#isUsed = grown(this.#isUsed, rows, Uint8Array);
    for (const pass of this.level.keys()) {
      this.denied[pass] = grown(this.denied[pass]!, rows, Uint32Array);
      this.level[pass] = grown(this.level[pass]!, rows, Float64Array);
      this.need[pass] = grown(this.need[pass]!, rows, Float64Array);
    }
    if (this.bounds !== undefined) growBounds(this.bounds, rows);
    this.#reindex(2 * rows);
  }

  #halve(): void {
    this.sampling *= 2;
    for (let row = 0; row < this.#rows; row++) {
      if (this.#isUsed[row] === 0 || this.#keeps(this.#low[row]!)) continue;
      this.#isUsed[row] = this.overridden[row] = 0;
      this.requests[row] = 0;
      for (const columns of [this.denied, this.level, this.need]) for (const column of columns) column[row] = 0;
      this.#free.push(row);
    }
    this.#reindex(this.#index.length);
  }

  #reindex(size: number): void {
    this.#index = new Int32Array(size);
    for (let row = 0; row < this.#rows; row++) {
      if (this.#isUsed[row] === 1) this.#index[this.#find(this.#low[row]!, this.#high[row]!)] = row + 1;
    }
  }
}

function firstBounds(): BoundColumns {
  const ticks = (): Float64Array => new Float64Array(FIRST_ROWS);
  const denied = [new Uint32Array(FIRST_ROWS), new Uint32Array(FIRST_ROWS)];
  return { denied, best: ticks(), worst: ticks(), gap: ticks(), end: ticks() };
}

function growBounds(bounds: BoundColumns, rows: number): void {
  for (const name of ['best', 'worst', 'gap', 'end'] as const) bounds[name] = grown(bounds[name], rows, Float64Array);
  for (const [i, column] of bounds.denied.entries()) bounds.denied[i] = grown(column, rows, Uint32Array);
}

type Columns = Uint32Array | Int32Array | Uint16Array | Uint8Array | Float64Array;

/** Returns a column with more rows, and the same values in the first ones. */
export function grown<Column extends Columns>(
  column: Column,
  rows: number,
  make: new (length: number) => Column,
): Column {
  const larger = new make(rows);
  larger.set(column);
  return larger;
}
