import { capacityFor, MAX_CAPACITY, Segment } from './segment.ts';
import type { SpareBuffer } from './spare-buffer.ts';

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
