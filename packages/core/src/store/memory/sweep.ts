import type { BucketTable } from './bucket-table.ts';
import type { LimitTables } from './limit-tables.ts';

/** Neighbouring slots share cache lines: many at once, now and then, cost less than a few with each operation. */
const OPERATIONS_PER_STEP = 16;
const SLOTS_PER_STEP = 64;

/**
 * A hand that moves over all tables, one after the other, four slots for each operation: it drops the buckets whose TAT
 * has passed, has every segment that it leaves give back memory, and drops the tables that are empty then. So a limit
 * that nobody uses any more is swept by the calls of the others. There is no timer, and no pause.
 */
export class Sweep {
  readonly #tables: LimitTables;
  /** Where the hand is: it goes through the tables from the last to the first. −1: it begins anew. */
  #index = -1;
  #prefix = 0;
  #slot = 0;
  /** Operations that the hand has not moved for yet. */
  #due = 0;

  constructor(tables: LimitTables) {
    this.#tables = tables;
  }

  /** Counts an operation; each sixteenth moves the hand. */
  step(now: number): void {
    this.#due++;
    while (this.#due >= OPERATIONS_PER_STEP) {
      this.#due -= OPERATIONS_PER_STEP;
      this.#move(now);
    }
  }

  /**
   * Has the next operation move the hand twice more. To be called for each new table, so that tables are swept faster
   * than they come, even if each call names a limit of its own.
   */
  hasten(): void {
    this.#due += 2 * OPERATIONS_PER_STEP;
  }

  #move(now: number): void {
    const { all } = this.#tables;
    if (this.#index < 0) this.#index = all.length - 1;
    if (this.#index < 0) return;
    const table = all[this.#index]!;
    const segment = table.segmentAt(this.#prefix);
    const end = Math.min(this.#slot + SLOTS_PER_STEP, segment.capacity);
    for (;;) {
      this.#slot = segment.nextPassed(this.#slot, end, now);
      if (this.#slot >= end) break;
      // A removal moves up what stood behind: the same slot is looked at again.
      table.sweepSlot(segment, this.#slot);
    }
    if (end < segment.capacity) return;
    this.#prefix = segment.nextPrefix;
    this.#slot = 0;
    table.tidy(segment, now);
    if (this.#prefix === 0) this.#leave(table);
  }

  #leave(table: BucketTable): void {
    // The last table takes the place of a dropped one: the hand has been there already.
    if (table.size === 0) this.#tables.drop(this.#index);
    this.#index--;
  }
}
