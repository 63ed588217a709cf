import { describe, expect, test } from 'vitest';
import { ShareClasses } from '../../../src/kinds/load/classes.ts';

const shedParts = (classes: ShareClasses, level: number, shares: readonly number[]): number[] =>
  shares.map((share) => classes.shedPart(level, share));

/** Classes that have been found in this order. */
function found(shares: readonly number[]): ShareClasses {
  const classes = new ShareClasses(undefined);
  for (const share of shares) classes.add(share);
  return classes;
}

describe('the part of a class of equal width that is shed', () => {
  test.each([
    { level: 0, parts: [0, 0, 0, 0] },
    { level: 0.125, parts: [0.5, 0, 0, 0] },
    { level: 0.25, parts: [1, 0, 0, 0] },
    { level: 0.625, parts: [1, 1, 0.5, 0] },
    { level: 0.75, parts: [1, 1, 1, 0] },
    { level: 0.9375, parts: [1, 1, 1, 0.75] },
    { level: 1, parts: [1, 1, 1, 1] },
  ])('is $parts of four classes at the level $level', ({ level, parts }) => {
    expect(shedParts(new ShareClasses(4), level, [0.25, 0.5, 0.75, 1])).toEqual(parts);
  });

  test('belongs to the share: above one quarter up to the next is one class', () => {
    const classes = new ShareClasses(4);
    const shares = [Number.MIN_VALUE, 0.1, 0.25, 0.26, 0.5, 0.51, 0.75, 0.76, 0.8, 1];
    for (const share of shares) classes.add(share);
    expect(shedParts(classes, 0.25, shares)).toEqual([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]);
    expect(shedParts(classes, 0.75, shares)).toEqual([1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  });

  test('is the level itself with one class', () => {
    const classes = new ShareClasses(1);
    classes.add(0.1);
    expect([0, 0.3, 1].map((level) => classes.shedPart(level, 0.1))).toEqual([0, 0.3, 1]);
  });

  // 0.07 × 100 is 7.000000000000001, and 0.29 × 100 is 28.999999999999996.
  test.each(Array.from({ length: 100 }, (_, i) => i + 1))(
    'of a share of %i % is that of its class of 100',
    (percent) => {
      const classes = new ShareClasses(100);
      const belowIt = (percent - 1) / 100;
      expect(classes.shedPart(belowIt, percent / 100)).toBeCloseTo(0, 9);
      expect(classes.shedPart(belowIt + 0.005, percent / 100)).toBeCloseTo(0.5, 9);
    },
  );
});

describe('the classes of the shares that requests have had', () => {
  test('are one as long as all shares are 1', () => {
    const classes = found([1, 1]);
    expect(classes.shedPart(0.3, 1)).toBe(0.3);
    expect(classes.lastBegins).toBe(0);
  });

  test.each([[[0.5, 0.8]], [[0.8, 0.5, 0.5, 1, 0.8]]])('are in the order of the shares: %j', (shares) => {
    const classes = found(shares);
    expect(shedParts(classes, 1 / 3, [0.5, 0.8, 1])).toEqual([1, 0, 0]);
    expect(shedParts(classes, 0.5, [0.5, 0.8, 1])).toEqual([1, 0.5, 0]);
    expect(classes.lastBegins).toBeCloseTo(2 / 3, 12);
  });

  test('are not more for a share that differs by a rounding error', () => {
    expect(found([0.3, 0.1 + 0.2]).lastBegins).toBe(0.5);
  });

  test('are ten at most: a further share belongs to the next larger one', () => {
    const classes = found(Array.from({ length: 1000 }, (_, i) => 0.9 - i / 2000));
    expect(classes.lastBegins).toBeCloseTo(0.9, 12);
    expect(shedParts(classes, 0.1, [0.4, 0.896, 0.8965, 1])).toEqual([1, 1, 0, 0]);
  });

  test('do not make a request with a larger share be shed more when a smaller one is found', () => {
    for (const level of [0.1, 0.5, 0.9]) {
      const before = shedParts(found([0.8]), level, [0.8, 1]);
      const after = shedParts(found([0.8, 0.2]), level, [0.8, 1]);
      expect(after.every((part, i) => part <= (before[i] ?? 0))).toBe(true);
    }
  });
});
