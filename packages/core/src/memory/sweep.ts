import type { BucketTable } from './bucket-table.ts';

const SLOTS_PER_STEP = 4;

/**
 * A hand that moves over the whole table, a few slots with each operation: it drops the buckets whose TAT has passed
 * and has every segment that it leaves give back memory. There is no timer, and no pause.
 */
export class Sweep {
  readonly #table: BucketTable;
  #prefix = 0;
  #slot = 0;

  constructor(table: BucketTable) {
    this.#table = table;
  }

  step(now: number): void {
    const segment = this.#table.segmentAt(this.#prefix);
    for (let looked = 0; looked < SLOTS_PER_STEP; looked++) {
      if (this.#slot >= segment.capacity) {
        this.#prefix = segment.nextPrefix;
        this.#slot = 0;
        return this.#table.tidy(segment, now);
      }
      // A removal moves up what stood behind: look at the same slot again.
      if (segment.hasPassed(this.#slot, now)) this.#table.sweepSlot(segment, this.#slot);
      else this.#slot++;
    }
  }
}
