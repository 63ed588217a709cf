import { expect, test } from 'vitest';
import { joinedReading } from '../../src/store/alternatives.ts';

const one = { nowTicks: 10, levelsTicks: [1, 2] };
const other = { nowTicks: 20, levelsTicks: [3], bucketNowTicks: [25], bucketWallMs: [5000] };

test('the reading of several alternatives has the levels of all, each with its clocks', () => {
  expect(joinedReading([one, other])).toEqual({
    nowTicks: 20,
    levelsTicks: [1, 2, 3],
    bucketNowTicks: [10, 10, 25],
    bucketWallMs: [undefined, undefined, 5000],
  });
  expect(joinedReading([other])).toBe(other);
});

test('it is remembered only if that of each alternative is', () => {
  const remembered = (reading: object) => Object.assign({}, one, reading, { remembered: true as const });
  expect(joinedReading([remembered(one), remembered(other)]).remembered).toBe(true);
  expect(joinedReading([remembered(one), other]).remembered).toBeUndefined();
});
