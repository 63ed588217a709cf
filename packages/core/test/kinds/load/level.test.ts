import { describe, expect, test } from 'vitest';
import { Level } from '../../../src/kinds/load/level.ts';

const ramp = { calm: 0.7, busy: 0.8, riseMs: 3000, fallMs: 60_000 };

/** A level after so many readings, 250 ms apart. */
function moved(level: Level, signal: number, count: number, pause = 0.75): number {
  for (let i = 0; i < count; i++) level.move(signal, 250, pause);
  return level.value;
}

describe('the level', () => {
  test('pauses for ten seconds before the most important requests are shed, and rises then', () => {
    const level = new Level(ramp);
    expect(moved(level, 1, 12)).toBeCloseTo(0.75, 9);
    expect(moved(level, 1, 39)).toBe(0.75);
    expect(moved(level, 1, 1)).toBeCloseTo(0.75 + 1 / 12, 9);
    expect(moved(level, 1, 2)).toBeCloseTo(1, 9);
  });

  test('pauses again when the signal was calm enough meanwhile: what had queued up was done', () => {
    const level = new Level(ramp);
    moved(level, 1, 45);
    moved(level, 0.75, 1);
    expect(moved(level, 1, 39)).toBe(0.75);
  });

  test('pauses again after it has fallen', () => {
    const level = new Level(ramp);
    moved(level, 1, 60);
    expect(level.value).toBe(1);
    moved(level, 0.3, 100);
    expect(level.value).toBeLessThan(0.75);
    expect(moved(level, 1, 35)).toBe(0.75);
  });

  test('does not pause where all requests are equally important', () => {
    expect(moved(new Level(ramp), 1, 15, 0)).toBe(1);
  });

  test('does not pause above, when a class is added', () => {
    const level = new Level(ramp);
    moved(level, 1, 9, 0);
    expect(level.value).toBeCloseTo(0.5, 9);
    expect(moved(level, 1, 1, 0.4)).toBeGreaterThan(0.5);
  });

  test('is 0 after a reset, and rises with the next reading of a signal that lasts', () => {
    const level = new Level(ramp);
    moved(level, 1, 8);
    level.reset();
    expect(level.value).toBe(0);
    expect(moved(level, 1, 1)).toBeCloseTo(1 / 12, 9);
  });
});
