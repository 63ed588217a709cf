import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyNumbers } from './limit-arbitraries.ts';
import { OneBucket } from './one-bucket.ts';

const startMs = fc.oneof(fc.constantFrom(0, 1_790_000_000_000), fc.integer({ min: 0, max: 4e12 }));

test('exactly burst tokens pass at one instant from a full bucket, at any limit and time', () => {
  const lastOnes = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(anyNumbers, startMs, lastOnes, (numbers, start, ones) => {
      const bucket = new OneBucket(numbers, { startMs: start });
      // A burst of a thousand million is taken in one piece but for its last tokens.
      const single = Math.min(ones, numbers.burst);
      expect(bucket.spend(numbers.burst - single).allowed).toBe(true);
      for (let i = 0; i < single; i++) expect(bucket.spend(1).allowed).toBe(true);
      expect(bucket.spend(1)).toMatchObject({ allowed: false, remaining: 0 });
    }),
  );
});

describe('seven per second let exactly seven through at one instant', () => {
  const numbers = { Seven: { key: accountId(), count: 7, period: '1s' } };
  const passed = (limiter: ReturnType<typeof createLimiter>): boolean[] =>
    Array.from({ length: 10 }, () => limiter.spendSync([{ limit: 'Seven', id: '7' }]).allowed);
  const seven = [...Array<boolean>(7).fill(true), false, false, false];

  test('at today’s wall clock', () => {
    const time = new FakeTime(Date.now());
    expect(passed(createLimiter({ limits: numbers, store: memoryStore({ time }) }))).toEqual(seven);
  });

  test('on the process’s own clock', () => {
    expect(passed(createLimiter({ limits: numbers }))).toEqual(seven);
  });

  test('at any instant of a day, and again a second later', () => {
    const time = new FakeTime(Date.now());
    const limiter = createLimiter({ limits: numbers, store: memoryStore({ time }) });
    for (let i = 0; i < 86_400; i += 17) {
      expect(passed(limiter)).toEqual(seven);
      time.advance(1000 + (i % 7) / 1000);
    }
  });
});

test.each([
  { period: '30d', count: 1000 },
  { period: '366d', count: 7 },
  { period: '366d', count: 1_000_000_000 },
  { period: '7d', count: 13 },
  { period: '1ms', count: 7 },
  { period: '1ms', count: 16_000 },
  { period: '999ms', count: 1001 },
  { period: '1h', count: 3607 },
])(
  '$count per $period let exactly that many through, and the next one after the reported wait',
  ({ period, count }) => {
    const time = new FakeTime(Date.now());
    const limits = { Odd: { key: accountId(), count, period } };
    const limiter = createLimiter({ limits, store: memoryStore({ time }) });
    const spend = (cost: number) => limiter.spendSync([{ limit: 'Odd', id: '7', cost }]);
    const single = Math.min(count, 5000);
    expect(spend(count - single).allowed).toBe(true);
    for (let i = 0; i < single; i++) expect(spend(1).allowed).toBe(true);
    const { allowed, retryAfterMs } = spend(1);
    expect(allowed).toBe(false);
    time.advance(retryAfterMs - 0.001);
    expect(spend(1)).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
    time.advance(0.001);
    expect(spend(1).allowed).toBe(true);
  },
);
