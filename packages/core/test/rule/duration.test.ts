import { createLimiter, everyone } from '../../src/index.ts';
import { describe, expect, test } from 'vitest';
import { durationTicks } from '../../src/rule/duration.ts';
import { TICKS_PER_MS } from '../../src/rule/ticks.ts';
import { thrown } from '../support/thrown.ts';

const RANGE = { minMs: 1, maxMs: 366 * 86_400_000, demand: 'from 1ms to 366 days' };
const ticks = (value: unknown): number => durationTicks('limits.Orders.period', value, RANGE);

test.each<[value: unknown, ms: number]>([
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['500ms', 500],
  ['1500us', 1.5],
  ['1500µs', 1.5],
  ['1s', 1000],
  ['180m', 10_800_000],
  ['168h', 604_800_000],
  ['7d', 604_800_000],
  ['366d', 366 * 86_400_000],
  ['1d2h3m4s5ms6us', 93_784_005.006],
  ['1.001ms', 1.001],
  ['0.1s', 100],
  ['1.001s', 1001],
  [1000, 1000],
  [1000.001, 1000.001],
  [60_000, 60_000],
  [366 * 86_400_000, 366 * 86_400_000],
])('%o is %d ms', (value, ms) => expect(ticks(value)).toBe(Math.round(ms * 1000) * (TICKS_PER_MS / 1000)));

test('a function as a period is led to overrides, which may be one', () => {
  expect(thrown(() => ticks(() => '1m')).message).toContain('overrides: (limit, id, request) => …');
});

describe('no duration is', () => {
  test.each<[value: unknown, why: string]>([
    ['10', 'a string without a unit'],
    ['1w', 'an unknown unit'],
    ['1H', 'a unit in capitals'],
    ['-1s', 'a negative time'],
    ['+1s', 'a sign'],
    ['1 s', 'a space'],
    [' 1s', 'a space in front'],
    ['1s\n', 'a line feed behind'],
    ['.5s', 'a fraction without a whole part'],
    ['1.s', 'a point without a fraction'],
    ['1e3ms', 'an exponent'],
    ['s', 'a unit alone'],
    ['', 'nothing'],
    [`${'0'.repeat(63)}1s`, 'more than 64 characters'],
    ['1.0001ms', 'a fraction of a microsecond'],
    [1000.0001, 'a number with a fraction of a microsecond'],
    [0, 'nothing, as a number'],
    [-1, 'a negative number'],
    [0.999, 'a number below one'],
    [60, 'a number that was meant to be seconds'],
    [999, 'the largest number that may be seconds'],
    [999.999, 'a fraction that may be seconds'],
    ['999us', 'less than the least, as text'],
    [366 * 86_400_000 + 0.001, 'more than the most'],
    ['366d1us', 'more than the most, as text'],
    [Infinity, 'Infinity'],
    [1.7e308, 'a number that overflows'],
    [Number.NaN, 'NaN'],
    [60_000n, 'a bigint'],
    [null, 'null'],
    [undefined, 'left out'],
    [['1s'], 'an array'],
    [{ ms: 1 }, 'an object'],
    [true, 'a boolean'],
  ])('%o: %s', (value) => expect(thrown(() => ticks(value)).code).toBe('ERR_DURATION'));
});

test('the error names option, demand, value and how to write one', () => {
  expect(thrown(() => ticks('a while')).message).toBe(
    "`limits.Orders.period` must be a duration of whole microseconds from 1ms to 366 days, but was 'a while'. " +
      "Write a string with its unit, such as '500ms', '1s', '1h30m' or '7d', or a number of milliseconds from 1000 up.",
  );
});

test.each<[value: unknown, seconds: string, milliseconds: string]>([
  [60, '60s', '60ms'],
  [1, '1s', '1ms'],
  [999, '999s', '999ms'],
  ['60', '60s', '60ms'],
  ['060', '60s', '60ms'],
])('for %o, which may be seconds or milliseconds, the error names both, and both are taken', (value, ...written) => {
  const { message } = thrown(() => ticks(value));
  expect(message).toContain(`'${written[0]}' for seconds, '${written[1]}' for milliseconds.`);
  expect(written.map((text) => ticks(text) / TICKS_PER_MS)).toEqual([Number(value) * 1000, Number(value)]);
});

test('a duration that is written well, and out of range, is not told to write a unit', () => {
  const limits = { A: { key: everyone(), count: 1, period: '1s', maxWait: '2h' } };
  const { message } = thrown(() => createLimiter({ limits }));
  expect(message).toMatch(/to 1 ?h.*but was '2h'\. For example '500ms'/);
});

test.each([0.5, 1.5, -60, 0])(
  '%o gets the general remedy: with a unit it would not be taken either, or not mean it',
  (value) => expect(thrown(() => ticks(value)).message).toContain("Write a string with its unit, such as '500ms'"),
);

test.each([
  ['1 month', "per: 'month' instead of period, or period: '30d'."],
  ['month', "per: 'month' instead of period, or period: '30d'."],
  ['1 Year', "per: 'year' instead of period, or period: '365d'."],
])('for the period %o the error names the option for calendar periods', (value, remedy) =>
  expect(thrown(() => ticks(value)).message).toContain(remedy),
);
