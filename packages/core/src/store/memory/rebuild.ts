import { BYTES_PER_SLOT, capacityFor, MAX_CAPACITY, Segment } from './segment.ts';

/**
 * A segment is split at 3277 buckets. Its halves are merged only when far fewer are left, so that they are not split
 * again soon.
 */
const MAX_MERGED = 2000;

/**
 * Returns the segments that replace one: without the buckets whose TAT has passed, at a load of at most 60 %, and two
 * segments if one would exceed the largest capacity.
 */
export function rebuilt(segment: Segment, now: number, spare: SpareBuffer): readonly Segment[] {
  const capacity = capacityFor(segment.countLive(now, 0));
  return capacity > MAX_CAPACITY ? split(segment, now, spare) : [copied(segment, now, spare.take(capacity))];
}

function copied(segment: Segment, now: number, buffer: ArrayBuffer): Segment {
  const copy = new Segment(segment.prefix, segment.depth, buffer);
  segment.copyLive(now, () => copy);
  return copy;
}

function split(segment: Segment, now: number, spare: SpareBuffer): readonly Segment[] {
  const { prefix, depth } = segment;
  const bit = bitBelow(depth);
  const all = segment.countLive(now, 0);
  const ones = segment.countLive(now, bit);
  const lower = new Segment(prefix, depth + 1, spare.take(capacityFor(all - ones)));
  const upper = new Segment(prefix | bit, depth + 1, spare.take(capacityFor(ones)));
  segment.copyLive(now, (high) => ((high & bit) === 0 ? lower : upper));
  return [lower, upper];
}

/** Returns the prefix of the segment's other half. Its depth must be at least 1. */
export function prefixOfOtherHalf({ prefix, depth }: Segment): number {
  return prefix ^ bitBelow(depth - 1);
}

/** Whether two halves of a segment have so few buckets that one segment suffices. */
export function canMerge(segment: Segment, other: Segment): boolean {
  return segment.depth === other.depth && segment.size + other.size <= MAX_MERGED;
}

/** Returns one segment for two halves. */
export function merged(segment: Segment, other: Segment, now: number, spare: SpareBuffer): Segment {
  const live = segment.countLive(now, 0) + other.countLive(now, 0);
  const whole = new Segment(segment.prefix & other.prefix, segment.depth - 1, spare.take(capacityFor(live)));
  for (const half of [segment, other]) half.copyLive(now, () => whole);
  return whole;
}

function bitBelow(depth: number): number {
  return 1 << (31 - depth);
}

const LARGEST_BYTES = MAX_CAPACITY * BYTES_PER_SLOT;

/**
 * Keeps the buffer that the last rebuild replaced, if it has the size of nearly all segments, for the next rebuild.
 * Otherwise a growing store would produce as much garbage as it has buckets, and V8 delays the collection of memory
 * outside of its heap. All tables of a store share it.
 */
export class SpareBuffer {
  #buffer: ArrayBuffer | undefined;

  get bytes(): number {
    return this.#buffer?.byteLength ?? 0;
  }

  /** Returns a buffer of zeros for a number of slots. */
  take(slots: number): ArrayBuffer {
    const buffer = this.#buffer;
    if (buffer === undefined || slots !== MAX_CAPACITY) return new ArrayBuffer(slots * BYTES_PER_SLOT);
    this.#buffer = undefined;
    new Float64Array(buffer).fill(0);
    return buffer;
  }

  /**
   * Keeps a buffer of replaced segments, which must no longer be used elsewhere. Releases it when a large segment
   * shrinks.
   */
  keepOneOf(old: readonly Segment[], fresh: readonly Segment[]): void {
    const large = old.find(isLargest);
    if (large === undefined) return;
    if (fresh.some(isLargest)) this.#buffer ??= large.buffer;
    else this.#buffer = undefined;
  }
}

function isLargest(segment: Segment): boolean {
  return segment.buffer.byteLength === LARGEST_BYTES;
}
