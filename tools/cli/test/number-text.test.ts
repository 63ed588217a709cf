import { expect, it } from 'vitest';
import { durationText } from '../src/console/number-text.ts';

it.each([
  [0, '0 ms'],
  [0.05, '0.05 ms'],
  [999.9, '1000 ms'],
  [1250, '1.25 s'],
  [60_000, '1 min'],
  [61_500, '1 min 1 s'],
  [3_600_000, '1 h'],
  [9_960_000, '2 h 46 min'],
  [90_000_000, '1 d 1 h'],
  [Infinity, 'never'],
])('%d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
