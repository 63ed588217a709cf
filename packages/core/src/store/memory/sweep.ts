import type { BucketTable } from './bucket-table.ts';
import type { LimitTables } from './limit-tables.ts';
import type { Slots } from './slots.ts';

/**
 * Adjacent slots share cache lines, so checking many of them now and then costs less than a few with each operation.
 */
const OPERATIONS_PER_STEP = 16;
const SLOTS_PER_STEP = 64;

/**
 * An empty table is kept for so many operations, in a store with at most so many tables. In a quiet service all buckets are
 * full again at their next request, and creating the table of a limit takes ten times as long as a decision. So a decision
 * there takes no longer with up to a thousand limits in turn, and all empty tables together take 2 MB at most.
 */
const EMPTY_OPERATIONS = 1024;
const TABLES_WITH_EMPTY = 1024;

/** Buckets whose slots requests hold: one for each operation. */
const SLOT_BUCKETS_PER_STEP = 16;

/**
 * Sweeps all tables, one after the other, by four slots for each operation: drops buckets whose TAT has passed, lets
 * each segment release memory, and drops tables that remain empty. The tables of limits that are no longer used are
 * swept during the calls for others. There is no timer, and no long pause. Buckets of slots are swept beside the tables.
 */
export class Sweep {
  readonly #tables: LimitTables;
  readonly #slots: Slots;
  /** The position: tables are swept from the last to the first. −1: the next sweep starts at the last. */
  #index = -1;
  #prefix = 0;
  #slot = 0;
  #operations = 0;
  /** The next step is due at so many operations. */
  #dueAt = OPERATIONS_PER_STEP;

  constructor(tables: LimitTables, slots: Slots) {
    this.#tables = tables;
    this.#slots = slots;
  }

  /** Counts an operation; every sixteenth one performs a step. */
  step(now: number): void {
    this.#operations++;
    while (this.#operations >= this.#dueAt) {
      this.#dueAt += OPERATIONS_PER_STEP;
      this.#move(now);
      this.#slots.table?.sweep(SLOT_BUCKETS_PER_STEP, now);
    }
  }

  /**
   * Makes the next operation perform two more steps. Call it for each new table, so that tables are swept faster
   * than they are created, even if each call names another limit.
   */
  hasten(): void {
    this.#dueAt -= 2 * OPERATIONS_PER_STEP;
  }

  #move(now: number): void {
    const { all } = this.#tables;
    if (this.#index < 0) this.#index = all.length - 1;
    if (this.#index < 0) return;
    const table = all[this.#index]!;
    const dropTime = table.wall === undefined ? now : table.wall.dropTime();
    const segment = table.segmentAt(this.#prefix);
    const end = Math.min(this.#slot + SLOTS_PER_STEP, segment.capacity);
    for (;;) {
      this.#slot = segment.nextPassed(this.#slot, end, dropTime);
      if (this.#slot >= end) break;
      // Removing a bucket can move another one into its slot, so the slot is checked again.
      table.sweepSlot(segment, this.#slot);
    }
    if (end < segment.capacity) return;
    this.#prefix = segment.nextPrefix;
    this.#slot = 0;
    table.tidy(segment, dropTime);
    if (this.#prefix === 0) this.#leave(table);
  }

  #leave(table: BucketTable): void {
    // The last table takes the index of a dropped one. It has been swept already.
    if (table.size === 0 && !this.#keepsEmpty(table)) this.#tables.drop(this.#index);
    this.#index--;
  }

  #keepsEmpty(table: BucketTable): boolean {
    if (table.emptyFrom === Infinity) table.emptyFrom = this.#operations;
    const operations = this.#operations - table.emptyFrom;
    return operations < EMPTY_OPERATIONS && this.#tables.all.length <= TABLES_WITH_EMPTY;
  }
}
