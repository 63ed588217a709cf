import { expect, test } from 'vitest';
import { durationText, waitText } from '../../src/time/duration-text.ts';

test.each([
  [0, '0 ms'],
  [250, '250 ms'],
  [1500, '1 s 500 ms'],
  [10_800_000, '3 h'],
  [90_061_000, '1 d 1 h 1 min 1 s'],
])('a duration of %d ms is written with the units of people, without rounding', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [1, '1 second'],
  [119, '119 seconds'],
  [121, '2 min 1 s'],
  [126_000, '1 d 11 h'],
  [3661, '1 h 2 min'],
])('a wait of %d seconds is rounded up to two units', (seconds, text) => {
  expect(waitText(seconds)).toBe(text);
});
