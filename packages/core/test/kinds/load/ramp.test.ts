import { describe, expect, test } from 'vitest';
import { movedLevel, type Ramp } from '../../../src/kinds/load/ramp.ts';

const ramp: Ramp = { calm: 0.7, busy: 0.8, riseMs: 3000, fallMs: 60_000 };

describe('the level', () => {
  test.each([
    { signal: 1, seconds: 3 },
    { signal: 0.9, seconds: 9 },
    { signal: 0.8 + 1e-12, seconds: 15 },
  ])('rises from 0 to 1 in $seconds s at a signal of $signal', ({ signal, seconds }) => {
    expect(movedLevel(0, signal, seconds * 500, ramp)).toBeCloseTo(0.5, 9);
    expect(movedLevel(0.5, signal, seconds * 500, ramp)).toBeCloseTo(1, 9);
  });

  test.each([0.7 - 1e-12, 0.3, 0])('falls from 1 to 0 in a minute at a signal of %d', (signal) => {
    expect(movedLevel(1, signal, 30_000, ramp)).toBe(0.5);
    expect(movedLevel(0.5, signal, 30_000, ramp)).toBe(0);
  });

  test.each([0.7, 0.75, 0.8])('stays at a signal of %d', (signal) => {
    expect(movedLevel(0.3, signal, 1e9, ramp)).toBe(0.3);
  });

  test('remains from 0 to 1, however long one signal lasts', () => {
    expect(movedLevel(0.9, 1, 1e9, ramp)).toBe(1);
    expect(movedLevel(0.1, 0, 1e9, ramp)).toBe(0);
  });

  test('does not move when no time has passed', () => {
    expect([0, 0.75, 1].map((signal) => movedLevel(0.4, signal, 0, ramp))).toEqual([0.4, 0.4, 0.4]);
  });
});
