import { expect, test } from 'vitest';
import {
  ceilToMs,
  ceilToSeconds,
  MAX_TOLERANCE_TICKS,
  TICKS_PER_MICRO,
  TICKS_PER_MS,
  TICKS_PER_SECOND,
} from '../../src/rule/ticks.ts';

test.each([
  { ticks: 0, ms: 0 },
  { ticks: 1, ms: 0.001 },
  { ticks: 16, ms: 0.001 },
  { ticks: 17, ms: 0.002 },
  { ticks: 16_000, ms: 1 },
  { ticks: 16_001, ms: 1.001 },
  { ticks: MAX_TOLERANCE_TICKS, ms: 3652.5 * 86_400_000 },
])('$ticks ticks are $ms ms, in steps of 0.001, rounded up', ({ ticks, ms }) => expect(ceilToMs(ticks)).toBe(ms));

test.each([
  { ticks: 0, seconds: 0 },
  { ticks: 1, seconds: 1 },
  { ticks: 16_000_000, seconds: 1 },
  { ticks: 16_000_001, seconds: 2 },
])('$ticks ticks are $seconds s, rounded up', ({ ticks, seconds }) => expect(ceilToSeconds(ticks)).toBe(seconds));

test('a tick is a sixteenth of a microsecond', () => {
  expect([TICKS_PER_MICRO, TICKS_PER_MS, TICKS_PER_SECOND]).toEqual([16, 16e3, 16e6]);
});

test('seven years after the origin a TAT of ten years ahead is still exact', () => {
  const sevenYears = 7 * 365.25 * 86_400 * TICKS_PER_SECOND;
  expect(Number.isSafeInteger(sevenYears + MAX_TOLERANCE_TICKS)).toBe(true);
});
