import { describe, expect, test } from 'vitest';
import {
  charged,
  fits,
  levelOf,
  refundable,
  refunded,
  remainingTokens,
  waitFor,
  shareOf,
  waitForNextToken,
} from '../../src/rule/gcra.ts';
import { MAX_TOLERANCE_TICKS } from '../../src/rule/ticks.ts';

const T = 10;
const BURST = 3;
const TOLERANCE = BURST * T;

/** Decides `cost` tokens at `now` and gives the TAT that follows, as a store does it. */
function spend(tat: number, now: number, cost: number) {
  const level = levelOf(tat, now);
  const allowed = fits(level, cost * T, TOLERANCE);
  const levelAfter = allowed ? level + cost * T : level;
  const tatAfter = allowed ? now + levelAfter : tat;
  const figures = {
    allowed,
    remaining: remainingTokens(levelAfter, T, TOLERANCE),
    retryAfter: allowed ? 0 : waitFor(levelAfter, cost * T, TOLERANCE),
    resetAfter: levelAfter,
    nextToken: waitForNextToken(levelAfter, T, TOLERANCE),
  };
  return { ...figures, tatAfter };
}

describe('a bucket of 3 tokens, one back every 10 ticks', () => {
  const timeline: [
    now: number,
    cost: number,
    allowed: boolean,
    remaining: number,
    retry: number,
    reset: number,
    next: number,
    tat: number,
    why: string,
  ][] = [
    [100, 0, true, 3, 0, 0, 0, 100, 'cost 0 passes and takes nothing'],
    [100, 1, true, 2, 0, 10, 10, 110, 'the first of the burst'],
    [100, 1, true, 1, 0, 20, 10, 120, 'the second at the same instant'],
    [100, 1, true, 0, 0, 30, 10, 130, 'the last one: cost × T is all that is left'],
    [100, 1, false, 0, 10, 30, 10, 130, 'a denied request does not move the TAT'],
    [100, 0, true, 0, 0, 30, 10, 130, 'cost 0 passes an empty bucket'],
    [109, 1, false, 0, 1, 21, 1, 130, 'one tick too early'],
    [110, 1, true, 0, 0, 30, 10, 140, 'exactly when it was told to come'],
    [110, 2, false, 0, 20, 30, 10, 140, 'two tokens take twice as long'],
    [110, 3, false, 0, 30, 30, 10, 140, 'cost = burst waits until the bucket is full'],
    [105, 1, false, 0, 15, 35, 15, 140, 'the clock stepped back: the TAT stays, and the wait is longer'],
    [105, 0, true, 0, 0, 35, 15, 140, 'cost 0 passes a bucket that owes more than its burst'],
    [130, 2, true, 0, 0, 30, 10, 160, 'two tokens came back in 20 ticks'],
    [145, 1, true, 0, 0, 25, 5, 170, 'half a token is none: 1.5 tokens were there, half of one is left'],
    [160, 1, true, 1, 0, 20, 10, 180, 'fifteen ticks later there are one and a half more'],
    [165, 1, true, 0, 0, 25, 5, 190, 'and so on'],
    [190, 3, true, 0, 0, 30, 10, 220, 'the TAT has come: the bucket is full, cost = burst passes'],
    [999, 1, true, 2, 0, 10, 10, 1009, 'a TAT long past is the same as no bucket'],
  ];

  let tat = -Infinity;
  for (const [now, cost, allowed, remaining, retryAfter, resetAfter, nextToken, tatAfter, why] of timeline) {
    const before = tat;
    tat = tatAfter;
    test(`at ${now} for ${cost}: ${why}`, () => {
      const decided = spend(before, now, cost);
      expect(decided).toEqual({ allowed, remaining, retryAfter, resetAfter, nextToken, tatAfter });
    });
  }
});

describe('the level of a bucket', () => {
  test.each([
    { tat: -Infinity, now: 50, level: 0, promise: 'is 0 when there is no bucket' },
    { tat: 50, now: 50, level: 0, promise: 'is 0 at its TAT' },
    { tat: 51, now: 50, level: 1, promise: 'is what lies between now and the TAT' },
    { tat: 80, now: 50, level: 30, promise: 'is τ when the bucket is empty' },
    { tat: 81, now: 50, level: 31, promise: 'is more than τ when numbers with a larger τ were used' },
    { tat: -5, now: -50, level: 45, promise: 'counts in negative times as well' },
  ])('$promise', ({ tat, now, level }) => expect(levelOf(tat, now)).toBe(level));
});

describe('tokens are counted whole', () => {
  test.each([
    [0, 3],
    [1, 2],
    [10, 2],
    [11, 1],
    [29, 0],
    [30, 0],
    [31, 0],
    [300, 0],
  ])('at a level of %i there are %i', (level, tokens) => expect(remainingTokens(level, T, TOLERANCE)).toBe(tokens));
});

test.each([
  [0, 0],
  [1, 1],
  [10, 10],
  [11, 1],
  [29, 9],
  [30, 10],
  [31, 11],
  [300, 280],
])('at a level of %i one more token is there in %i ticks', (level, wait) => {
  expect(waitForNextToken(level, T, TOLERANCE)).toBe(wait);
});

test.each([
  [0, 0],
  [1, 7],
  [4, 10],
  [5, 1],
  [14, 10],
  [24, 10],
  [25, 11],
])('within a share of 24 ticks, at a level of %i one more token fits in %i ticks', (level, wait) => {
  expect(waitForNextToken(level, T, 24)).toBe(wait);
});

test('a share is rounded to the nearest tick, so that no product of doubles costs a token', () => {
  expect(0.29 * 100 * T).toBeLessThan(29 * T);
  expect([shareOf(100 * T, 0.29), shareOf(30, 0.5), shareOf(7, 0.5), shareOf(30, 1e-9), shareOf(30, 1)]).toEqual([
    29 * T,
    15,
    4,
    0,
    30,
  ]);
});

test('a charge takes what does not fit, at most to an empty bucket', () => {
  expect([charged(0, 10, TOLERANCE), charged(25, 10, TOLERANCE), charged(30, 30, TOLERANCE)]).toEqual([10, 30, 30]);
});

test('a charge never lowers a level that other numbers left', () => {
  expect([charged(31, 0, TOLERANCE), charged(50, 10, TOLERANCE)]).toEqual([31, 50]);
});

test('an increment of 0 fits at any level, without a wait', () => {
  expect([fits(300, 0, TOLERANCE), waitFor(300, 0, TOLERANCE)]).toEqual([true, 0]);
});

test('a refund gives back at most to a full bucket', () => {
  expect([refunded(30, 10), refunded(10, 10), refunded(9, 10), refunded(0, 10)]).toEqual([20, 0, 0, 0]);
});

describe('the refund of a decision', () => {
  test.each([
    { now: 100, given: 10, when: 'at once gives all back' },
    { now: 119, given: 10, when: 'gives all back while its debt lies ahead' },
    { now: 121, given: 9, when: 'gives what is left of its debt' },
    { now: 130, given: 0, when: 'gives nothing once its tokens have come back by themselves' },
    { now: 999, given: 0, when: 'gives nothing ever after' },
    { now: 50, given: 10, when: 'gives no more than it took when the clock steps back' },
  ])('$when', ({ now, given }) => expect(refundable(10, 130, now)).toBe(given));
});

describe('at ten years, where a level and an increment add up to more than 2^53', () => {
  const tolerance = MAX_TOLERANCE_TICKS;
  const odd = tolerance - 1;

  test('the wait is exact to the tick', () => {
    expect(waitFor(odd, odd, tolerance)).toBe(tolerance - 2);
    expect(waitFor(odd, tolerance, tolerance)).toBe(tolerance - 1);
    expect(waitFor(tolerance, odd, tolerance)).toBe(tolerance - 1);
  });

  test('what fits is exact to the tick', () => {
    expect([fits(1, odd, tolerance), fits(2, odd, tolerance), fits(odd, odd, tolerance)]).toEqual([true, false, false]);
  });
});
