import { expect, test } from 'vitest';
import { decidedReading, joinedReading, readingsOf } from '../../src/store/alternatives.ts';
import type { StoreTransaction } from '../../src/store/store.ts';

const one = { passed: -1, nowTicks: 10, levelsTicks: [1, 2] };
const other = { passed: 0, nowTicks: 20, levelsTicks: [3], bucketNowTicks: [25], bucketWallMs: [5000] };

test('the reading of several alternatives has the levels of all, each with its clocks', () => {
  expect(joinedReading([one, other])).toEqual({
    passed: 1,
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

const asked = (limit: string): StoreTransaction => {
  return { limit, id: 'a', incrementTicks: 1, fitTicks: 3, capTicks: 3, mode: 'check-and-spend' };
};
const alternatives = [[asked('A'), asked('B')], [asked('C')], [asked('D')]];

test('of a reading of all alternatives, the levels up to the first that passes decide', () => {
  const whole = { nowTicks: 7, levelsTicks: [0, 3, 2, 0] };
  expect(decidedReading(alternatives, whole)).toEqual({ passed: 1, nowTicks: 7, levelsTicks: [0, 3, 2] });
  const full = { ...whole, levelsTicks: [0, 3, 3, 3] };
  expect(decidedReading(alternatives, full)).toEqual({ ...full, passed: -1 });
});

test('which alternative passed is what the reading says, whatever its levels are', () => {
  const levels = { nowTicks: 7, levelsTicks: [0, 0, 9, 0] };
  expect(readingsOf(alternatives, { ...levels, levelsTicks: [0, 0, 9], passed: 1 })).toEqual([
    { passed: -1, nowTicks: 7, levelsTicks: [0, 0] },
    { passed: 0, nowTicks: 7, levelsTicks: [9] },
  ]);
  expect(readingsOf(alternatives, { ...levels, passed: -1 }).map(({ passed }) => passed)).toEqual([-1, -1, -1]);
});
