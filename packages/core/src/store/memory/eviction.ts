import type { BucketTable } from './bucket-table.ts';
import type { Segment } from './segment.ts';

const WINDOWS = 4;
const BUCKETS_PER_WINDOW = 12;

/**
 * Chooses the bucket of a limit that goes when the store is full: of a sample of 48 the one that is soonest full again.
 * So a new id that owes one token displaces an exhausted bucket only if all 48 are exhausted.
 *
 * The sample is four windows at random places: one window of the same size would often lie among exhausted buckets.
 */
export class Eviction {
  readonly #random: () => number;
  #segment: Segment | undefined;
  #slot = 0;
  #tat = Infinity;

  /** @param random - Gives numbers from 0 up to, not including, 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Removes one bucket of a table that has at least one. */
  evict(table: BucketTable, now: number): void {
    this.#tat = Infinity;
    let windows = 0;
    while (windows < WINDOWS) {
      // A whole number of 32 bits, as hashes are: for another kind V8 would compile the look-up of every request anew.
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
