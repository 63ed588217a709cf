import { describe, expect, test } from 'vitest';
import { MAX_CAPACITY, MIN_CAPACITY, Segment } from '../../../src/store/memory/segment.ts';
import { SpareBuffer } from '../../../src/store/memory/rebuild.ts';

function segment(spare: SpareBuffer, capacity: number): Segment {
  return new Segment(0, 0, spare.take(capacity));
}

describe('the spare buffer', () => {
  test('is that of a replaced segment, given out once and all zeros', () => {
    const spare = new SpareBuffer();
    const old = segment(spare, MAX_CAPACITY);
    old.insert(-1 - old.find(9, 9), 9, 9, 9);
    spare.keepOneOf([old], [segment(spare, MAX_CAPACITY)]);
    expect(spare.bytes).toBe(64 * 1024);

    const reused = segment(spare, MAX_CAPACITY);
    expect(reused.buffer).toBe(old.buffer);
    expect(new Uint8Array(reused.buffer).every((byte) => byte === 0)).toBe(true);
    expect(spare.bytes).toBe(0);
    expect(spare.take(MAX_CAPACITY)).not.toBe(old.buffer);
  });

  test('is for the largest segments only', () => {
    const spare = new SpareBuffer();
    const [small, large] = [segment(spare, MIN_CAPACITY), segment(spare, MAX_CAPACITY)];
    spare.keepOneOf([small], [large]);
    expect(spare.bytes).toBe(0);
    spare.keepOneOf([large], [segment(spare, MAX_CAPACITY)]);
    expect(spare.take(MIN_CAPACITY).byteLength).toBe(1024);
    expect(spare.bytes).toBe(64 * 1024);
  });

  test('stays while small segments of other tables are replaced', () => {
    const spare = new SpareBuffer();
    spare.keepOneOf([segment(spare, MAX_CAPACITY)], [segment(spare, MAX_CAPACITY)]);
    spare.keepOneOf([segment(spare, MIN_CAPACITY)], [segment(spare, MIN_CAPACITY)]);
    expect(spare.bytes).toBe(64 * 1024);
  });

  test('is let go when a segment shrinks', () => {
    const spare = new SpareBuffer();
    spare.keepOneOf([segment(spare, MAX_CAPACITY)], [segment(spare, MAX_CAPACITY)]);
    spare.keepOneOf([segment(spare, MAX_CAPACITY)], [segment(spare, MIN_CAPACITY)]);
    expect(spare.bytes).toBe(0);
  });
});
