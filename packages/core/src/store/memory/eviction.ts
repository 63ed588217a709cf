import type { BucketTable } from './bucket-table.ts';
import type { Segment } from './segment.ts';

const WINDOWS = 4;
const BUCKETS_PER_WINDOW = 12;

/**
 * Chooses the bucket of a limit to evict when the store is full: of a sample of up to 48, the one that is full soonest.
 * A new id that owes one token therefore displaces an exhausted bucket only if the whole sample is exhausted.
 *
 * The sample consists of four windows at random positions, because a single window of the same size would often lie
 * among exhausted buckets.
 */
export class Eviction {
  readonly #random: () => number;
  #segment: Segment | undefined;
  #slot = 0;
  #tat = Infinity;

  /** @param random - Returns random numbers from 0 (inclusive) to 1 (exclusive). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Removes one bucket from a table that has at least one. */
  evict(table: BucketTable, now: number): void {
    this.#tat = Infinity;
    let windows = 0;
    while (windows < WINDOWS) {
      // A 32-bit integer, as hashes are: V8 compiles the function again for another kind of number.
      const segment = table.segmentAt((this.#random() * 2 ** 32) | 0);
      if (segment.size === 0) continue;
      this.#lookThroughWindow(segment);
      windows++;
    }
    table.evictSlot(this.#segment!, this.#slot, now);
  }

  #lookThroughWindow(segment: Segment): void {
    const start = Math.floor(this.#random() * segment.capacity);
    const slot = segment.soonestFull(start, BUCKETS_PER_WINDOW);
    const tat = segment.tat(slot);
    if (tat >= this.#tat) return;
    this.#segment = segment;
    this.#slot = slot;
    this.#tat = tat;
  }
}
