import { describe, expect, test } from 'vitest';
import { BYTES_PER_SLOT, Segment } from '../../../src/store/memory/segment.ts';
import { numbersFrom } from './numbers.ts';

const SLOTS = 64;

function emptySegment(): Segment {
  return new Segment(0, 0, new ArrayBuffer(SLOTS * BYTES_PER_SLOT));
}

function insert(segment: Segment, low: number, high: number, tat: number): void {
  segment.insert(-1 - segment.find(low, high), low, high, tat);
}

describe('a segment', () => {
  test('finds what was put into it and nothing else, however it is filled and emptied', () => {
    const segment = emptySegment();
    const buckets = new Map<number, number>();
    const random = numbersFrom(2);
    let wrong = 0;

    for (let step = 0; step < 20_000; step++) {
      // Hashes that crowd at few places, the last slots among them: their buckets are pushed round the end.
      const low = (Math.floor(random() * 8) * 2 ** 29 + 2 ** 29 - 1 - Math.floor(random() * 8)) | 0 || 1;
      const slot = segment.find(low, 5);
      if ((slot < 0 ? undefined : segment.tat(slot)) !== buckets.get(low)) wrong++;
      if (slot >= 0 && random() < 0.5) {
        segment.remove(slot);
        buckets.delete(low);
      } else if (slot >= 0) {
        segment.setTat(slot, step);
        buckets.set(low, step);
      } else if (!segment.isFull) {
        insert(segment, low, 5, step);
        buckets.set(low, step);
      }
      if (segment.size !== buckets.size) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test('distinguishes hashes by both of their words', () => {
    const segment = emptySegment();
    insert(segment, 9, 1, 100);
    insert(segment, 9, 2, 200);
    expect(segment.tat(segment.find(9, 1))).toBe(100);
    expect(segment.tat(segment.find(9, 2))).toBe(200);
    expect(segment.find(9, 3)).toBeLessThan(0);
  });

  test('stores a TAT of any sign, and 0', () => {
    const segment = emptySegment();
    for (const [i, tat] of [-(2 ** 52), -1, 0, 2 ** 53 - 1].entries()) {
      insert(segment, 2 * i + 1, 0, tat);
      expect(segment.tat(segment.find(2 * i + 1, 0))).toBe(tat);
    }
    expect(segment.size).toBe(4);
  });

  test('is full at 80 % of its slots', () => {
    const segment = emptySegment();
    for (let i = 0; i < 51; i++) {
      expect(segment.isFull).toBe(false);
      insert(segment, (i * 2 ** 25) | 1, 0, 1);
    }
    expect(segment.isFull).toBe(true);
  });
});
