import { BucketTable, type Totals } from './bucket-table.ts';
import { SizeRanking } from './size-ranking.ts';
import { SpareBuffer } from './rebuild.ts';
import type { WallClock } from './store-time.ts';

/**
 * One table for each limit that has buckets, or two if it has both buckets with a period and without. The sweep drops
 * empty tables.
 */
export class LimitTables {
  readonly totals: Totals = { size: 0, swept: 0, evicted: 0 };
  readonly #spare = new SpareBuffer();
  readonly #byLimit = new Map<string, BucketTable>();
  /** The tables on the wall clock. */
  readonly #onWall = new Map<string, BucketTable>();
  /** The sweep goes through them from the last to the first. */
  readonly #all: BucketTable[] = [];
  readonly #ranking = new SizeRanking<BucketTable>();
  // The last lookup, because most stores have one limit.
  #lastLimit: string | undefined;
  #lastTable: BucketTable | undefined;

  /** All tables. A new one is appended. */
  get all(): readonly BucketTable[] {
    return this.#all;
  }

  get bytes(): number {
    return this.#all.reduce((sum, table) => sum + table.bytes, this.#spare.bytes);
  }

  /** Returns the table of a limit for buckets without a period, if it has one. */
  find(limit: string): BucketTable | undefined {
    if (limit !== this.#lastLimit) this.#remember(limit, this.#byLimit.get(limit));
    return this.#lastTable;
  }

  /** Returns the table of a limit for buckets with a period, if it has one. */
  findOnWall(limit: string): BucketTable | undefined {
    return this.#onWall.get(limit);
  }

  /** Creates a table of a limit that has none on this clock. */
  create(limit: string, wall?: WallClock): BucketTable {
    const table = new BucketTable(limit, { spare: this.#spare, totals: this.totals }, wall);
    this.#mapOf(table).set(limit, table);
    this.#all.push(table);
    this.#ranking.add(table);
    this.#remember(undefined, undefined);
    return table;
  }

  /** Call it after a bucket was added to a table. */
  ranked(table: BucketTable): void {
    if (table.size > table.rankedSize) this.#ranking.grown(table);
  }

  /** Returns a table with the most buckets. There must be at least one table. */
  largest(): BucketTable {
    return this.#ranking.largest();
  }

  /** Drops an empty table. The last table takes its index in `all`. */
  drop(index: number): void {
    const table = this.#all[index]!;
    const last = this.#all.pop()!;
    if (last !== table) this.#all[index] = last;
    this.#mapOf(table).delete(table.limit);
    this.#ranking.remove(table);
    this.#remember(undefined, undefined);
  }

  #mapOf({ wall }: BucketTable): Map<string, BucketTable> {
    return wall === undefined ? this.#byLimit : this.#onWall;
  }

  #remember(limit: string | undefined, table: BucketTable | undefined): void {
    this.#lastLimit = limit;
    this.#lastTable = table;
  }
}
