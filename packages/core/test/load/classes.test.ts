import { describe, expect, test } from 'vitest';
import { shedPart } from '../../src/load/classes.ts';

describe('the part of a class that is shed', () => {
  test.each([
    { level: 0, parts: [0, 0, 0, 0] },
    { level: 0.125, parts: [0.5, 0, 0, 0] },
    { level: 0.25, parts: [1, 0, 0, 0] },
    { level: 0.625, parts: [1, 1, 0.5, 0] },
    { level: 0.75, parts: [1, 1, 1, 0] },
    { level: 0.9375, parts: [1, 1, 1, 0.75] },
    { level: 1, parts: [1, 1, 1, 1] },
  ])('is $parts of four classes at the level $level', ({ level, parts }) => {
    expect([0.25, 0.5, 0.75, 1].map((share) => shedPart(level, share, 4))).toEqual(parts);
  });

  test('belongs to the share: above one quarter up to the next is one class', () => {
    const shares = [Number.MIN_VALUE, 0.1, 0.25, 0.26, 0.5, 0.51, 0.75, 0.76, 0.8, 1];
    expect(shares.map((share) => shedPart(0.25, share, 4))).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    expect(shares.map((share) => shedPart(0.75, share, 4))).toEqual([1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  });

  test('is the level itself with one class', () => {
    expect([0, 0.3, 1].map((level) => shedPart(level, 0.1, 1))).toEqual([0, 0.3, 1]);
  });

  // 0.07 × 100 is 7.000000000000001, and 0.29 × 100 is 28.999999999999996.
  test.each(Array.from({ length: 100 }, (_, i) => i + 1))(
    'of a share of %i % is that of its class of 100',
    (percent) => {
      const belowIt = (percent - 1) / 100;
      expect(shedPart(belowIt, percent / 100, 100)).toBeCloseTo(0, 9);
      expect(shedPart(belowIt + 0.005, percent / 100, 100)).toBeCloseTo(0.5, 9);
    },
  );
});
