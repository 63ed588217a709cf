import type { BucketTable } from './bucket-table.ts';
import type { LimitTables } from './limit-tables.ts';
import type { SlotBuckets } from './slot-buckets.ts';

/**
 * Adjacent slots share cache lines, so checking many of them now and then costs less than a few with each operation.
 */
const OPERATIONS_PER_STEP = 16;
const SLOTS_PER_STEP = 64;

/** Buckets whose slots requests hold: one for each operation. */
const SLOT_BUCKETS_PER_STEP = 16;

/**
 * Sweeps all tables, one after the other, by four slots for each operation: drops buckets whose TAT has passed, lets
 * each segment release memory, and drops tables that are empty then. The tables of limits that are no longer used are
 * swept during the calls for others. There is no timer, and no long pause. Buckets of slots are swept beside the tables.
 */
export class Sweep {
  readonly #tables: LimitTables;
  readonly #slots: SlotBuckets;
  /** The position: tables are swept from the last to the first. −1: the next sweep starts at the last. */
  #index = -1;
  #prefix = 0;
  #slot = 0;
  /** Operations since the last step. */
  #due = 0;

  constructor(tables: LimitTables, slots: SlotBuckets) {
    this.#tables = tables;
    this.#slots = slots;
  }

  /** Counts an operation; every sixteenth one performs a step. */
  step(now: number): void {
    this.#due++;
    while (this.#due >= OPERATIONS_PER_STEP) {
      this.#due -= OPERATIONS_PER_STEP;
      this.#move(now);
      this.#slots.sweep(SLOT_BUCKETS_PER_STEP, now);
    }
  }

  /**
   * Makes the next operation perform two more steps. To be called for each new table, so that tables are swept faster
   * than they are created, even if each call names another limit.
   */
  hasten(): void {
    this.#due += 2 * OPERATIONS_PER_STEP;
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
    if (table.size === 0) this.#tables.drop(this.#index);
    this.#index--;
  }
}
