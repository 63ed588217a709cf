import { Directory } from './directory.ts';
import { canMerge, merged, prefixOfOtherHalf, rebuilt, type SpareBuffer } from './rebuild.ts';
import { MIN_CAPACITY, Segment } from './segment.ts';
import type { Ranked } from './size-ranking.ts';
import type { WallClock } from './store-time.ts';

/** The parts that all tables of a store share. */
export interface TableParts {
  readonly spare: SpareBuffer;
  readonly totals: Totals;
}

/** Sums over all tables of a store, including dropped ones. */
export interface Totals {
  /** Buckets in all tables. */
  size: number;
  /** Buckets dropped because their TAT had passed. */
  swept: number;
  /** Buckets evicted although their TAT lay ahead. */
  evicted: number;
}

/**
 * The buckets of one limit, all on one clock: a hash table from 64-bit hashes to TATs, without a string or an object for
 * each bucket. It grows and shrinks by segments of at most 64 kB, one at a time, so that no call takes long however many
 * buckets there are.
 */
export class BucketTable implements Ranked {
  readonly limit: string;
  /** The clock of buckets with a period; undefined for buckets on the monotonic clock of the store. */
  readonly wall: WallClock | undefined;
  /** The latest end of a period with which a bucket was written. */
  latestEnd: number = -Infinity;
  /** Since when the sweep finds it empty, in operations of the store; Infinity when a bucket was added since. */
  emptyFrom: number = Infinity;
  rank = 0;
  rankedSize = 0;
  readonly #totals: Totals;
  readonly #spare: SpareBuffer;
  readonly #directory: Directory;
  #size = 0;
  #evicted = 0;
  #evictedDebt = 0;

  // The position of the bucket that was looked up last, because a bucket is read before it is written. `low` is 0,
  // which no hash has, when there is none.
  #low = 0;
  #high = 0;
  #segment: Segment;
  #slot = 0;

  constructor(limit: string, { spare, totals }: TableParts, wall?: WallClock) {
    this.limit = limit;
    this.wall = wall;
    this.#totals = totals;
    this.#spare = spare;
    this.#segment = new Segment(0, 0, spare.take(MIN_CAPACITY));
    this.#directory = new Directory(this.#segment);
  }

  /** The number of buckets, including those that are full and not yet swept. */
  get size(): number {
    return this.#size;
  }

  /** The number of buckets evicted although their TAT lay ahead. */
  get evicted(): number {
    return this.#evicted;
  }

  /** The largest TAT − now of an evicted bucket, in the unit of its clock; 0 when none was evicted. */
  get evictedDebt(): number {
    return this.#evictedDebt;
  }

  get bytes(): number {
    return this.#directory.bytes;
  }

  /** Returns the TAT of a bucket; −Infinity, which has always passed, when there is none. */
  tat(low: number, high: number): number {
    if (low !== this.#low || high !== this.#high) this.#seek(low, high);
    return this.#slot < 0 ? -Infinity : this.#segment.tat(this.#slot);
  }

  /** Returns whether the bucket is new. */
  put(low: number, high: number, tat: number, now: number): boolean {
    if (low !== this.#low || high !== this.#high) this.#seek(low, high);
    const isNew = this.#slot < 0;
    if (isNew) this.#insert(low, high, tat, now);
    else this.#segment.setTat(this.#slot, tat);
    return isNew;
  }

  remove(low: number, high: number): void {
    this.#seek(low, high);
    if (this.#slot >= 0) this.#removeSlot(this.#segment, this.#slot);
  }

  /** Returns the segment of a `high` word. It is valid until the next change. */
  segmentAt(high: number): Segment {
    return this.#directory.at(high);
  }

  /** Visits the buckets that are not full. */
  forEachLive(now: number, visit: (low: number, high: number, tat: number) => void): void {
    let prefix = 0;
    do {
      const segment = this.segmentAt(prefix);
      segment.forEachLive(now, visit);
      prefix = segment.nextPrefix;
    } while (prefix !== 0);
  }

  #removeSlot(segment: Segment, slot: number): void {
    segment.remove(slot);
    this.#size--;
    this.#totals.size--;
    this.#low = 0;
  }

  /** Drops a bucket whose TAT has passed. */
  sweepSlot(segment: Segment, slot: number): void {
    this.#removeSlot(segment, slot);
    this.#totals.swept++;
  }

  /** Drops a bucket to make room, whether its TAT has passed or not. */
  evictSlot(segment: Segment, slot: number, now: number): void {
    const debt = segment.tat(slot) - now;
    if (debt <= 0) return this.sweepSlot(segment, slot);
    this.#removeSlot(segment, slot);
    this.#totals.evicted++;
    this.#evicted++;
    if (debt > this.#evictedDebt) this.#evictedDebt = debt;
  }

  /** Releases memory that a segment no longer needs. */
  tidy(segment: Segment, now: number): void {
    const other = segment.depth > 0 ? this.#directory.at(prefixOfOtherHalf(segment)) : undefined;
    if (other !== undefined && canMerge(segment, other))
      this.#replace([segment, other], [merged(segment, other, now, this.#spare)]);
    else if (segment.isSparse) this.#replace([segment], rebuilt(segment, now, this.#spare));
  }

  #seek(low: number, high: number): void {
    this.#low = low;
    this.#high = high;
    this.#segment = this.#directory.at(high);
    this.#slot = this.#segment.find(low, high);
  }

  #insert(low: number, high: number, tat: number, now: number): void {
    if (this.#segment.isFull) {
      this.#replace([this.#segment], rebuilt(this.#segment, now, this.#spare));
      this.#seek(low, high);
    }
    this.#slot = -1 - this.#slot;
    this.#segment.insert(this.#slot, low, high, tat);
    this.emptyFrom = Infinity;
    this.#size++;
    this.#totals.size++;
  }

  #replace(old: readonly Segment[], fresh: readonly Segment[]): void {
    this.#directory.replace(old, fresh);
    this.#spare.keepOneOf(old, fresh);
    const dropped = bucketsIn(old) - bucketsIn(fresh);
    this.#size -= dropped;
    this.#totals.size -= dropped;
    this.#totals.swept += dropped;
    this.#low = 0;
  }
}

function bucketsIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.size, 0);
}
