import { expect, test } from 'vitest';
import { monotonicClock } from '../../src/time/clock.ts';

test('the process’s own clock counts whole microseconds and never goes back', () => {
  const readings = Array.from({ length: 1000 }, () => monotonicClock.nowMicros());
  expect(readings.filter((micros) => !Number.isSafeInteger(micros))).toEqual([]);
  expect(readings).toEqual(readings.toSorted((a, b) => a - b));
});

test('the process’s own clock goes as fast as time does', () => {
  const before = performance.now() * 1000;
  const micros = monotonicClock.nowMicros();
  const after = performance.now() * 1000;
  expect(micros).toBeGreaterThanOrEqual(Math.floor(before));
  expect(micros).toBeLessThanOrEqual(after);
});
