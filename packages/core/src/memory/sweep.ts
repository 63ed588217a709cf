import type { BucketTable } from './bucket-table.ts';

/** Neighbouring slots share cache lines: many at once, now and then, cost less than a few with each operation. */
const OPERATIONS_PER_STEP = 16;
const SLOTS_PER_STEP = 64;

/**
 * A hand that moves over the whole table, four slots for each operation: it drops the buckets whose TAT has passed
 * and has every segment that it leaves give back memory. There is no timer, and no pause.
 */
export class Sweep {
  readonly #table: BucketTable;
  #prefix = 0;
  #slot = 0;
  #operations = 0;

  constructor(table: BucketTable) {
    this.#table = table;
  }

  /** Counts an operation; each sixteenth moves the hand. */
  step(now: number): void {
    this.#operations = (this.#operations + 1) % OPERATIONS_PER_STEP;
    if (this.#operations === 0) this.#move(now);
  }

  #move(now: number): void {
    const segment = this.#table.segmentAt(this.#prefix);
    const end = Math.min(this.#slot + SLOTS_PER_STEP, segment.capacity);
    for (;;) {
      this.#slot = segment.nextPassed(this.#slot, end, now);
      if (this.#slot >= end) break;
      // A removal moves up what stood behind: the same slot is looked at again.
      this.#table.sweepSlot(segment, this.#slot);
    }
    if (end < segment.capacity) return;
    this.#prefix = segment.nextPrefix;
    this.#slot = 0;
    this.#table.tidy(segment, now);
  }
}
