import type { BucketTable } from './bucket-table.ts';
import type { Segment } from './segment.ts';

const WINDOWS = 4;
const BUCKETS_PER_WINDOW = 12;

/**
 * Chooses what goes when the store is full: of a sample of 48 buckets the one that is soonest full again. A new key in
 * debt for one request then never pushes out an exhausted bucket of its limit.
 *
 * The sample is four windows at random places: one window of the same size would often lie among exhausted buckets.
 */
export class Eviction {
  readonly #table: BucketTable;
  readonly #random: () => number;
  #segment: Segment | undefined;
  #slot = 0;
  #tat = Infinity;

  /** @param random - Gives numbers from 0 up to, not including, 1. */
  constructor(table: BucketTable, random: () => number) {
    this.#table = table;
    this.#random = random;
  }

  /**
   * Removes one bucket of a table that has at least one.
   *
   * @returns Whether it was still live: its TAT lay ahead.
   */
  evict(now: number): boolean {
    this.#tat = Infinity;
    let windows = 0;
    while (windows < WINDOWS) {
      // A whole number of 32 bits, as hashes are: for another kind V8 would compile the look-up of every request anew.
      const segment = this.#table.segmentAt((this.#random() * 2 ** 32) | 0);
      if (segment.size === 0) continue;
      this.#lookThroughWindow(segment);
      windows++;
    }
    const live = this.#tat > now;
    if (live) this.#table.removeSlot(this.#segment!, this.#slot);
    else this.#table.sweepSlot(this.#segment!, this.#slot);
    return live;
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
