import { accountId, createLimiter, memoryStore, SluiceError, type Rate, type SpendEntry } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { written } from './limit-arbitraries.ts';
import type { Numbers } from './oracle.ts';
import { RUNS } from './runs.ts';

/** Tokens that were taken at one moment. */
interface Taken {
  readonly atMicros: number;
  readonly tokens: number;
}

interface Case {
  readonly numbers: Numbers;
  readonly maxDebt: number;
  readonly windowMicros: number;
}

/** Small numbers, with windows in which at most a few dozen tokens come back: all windows can be counted. */
const anyCase: fc.Arbitrary<Case> = fc
  .record({
    burst: fc.integer({ min: 1, max: 9 }),
    count: fc.integer({ min: 1, max: 40 }),
    periodMicros: fc.oneof(fc.constantFrom(1_000_000, 60_000_000), fc.integer({ min: 1000, max: 5_000_000 })),
    maxDebt: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 })),
    // In intervals T, so that the edges of many windows fall on the moment of a token.
    intervals: fc.oneof(fc.nat(30), fc.double({ min: 0, max: 30, noNaN: true })),
    offMicros: fc.constantFrom(0, 0, -1, 1),
  })
  .map(({ burst, count, periodMicros, maxDebt, intervals, offMicros }) => {
    const windowMicros = Math.max(1000, Math.round((intervals * periodMicros) / count) + offMicros);
    return { numbers: { burst, count, periodMicros }, maxDebt, windowMicros };
  });

const limitOf = ({ numbers, maxDebt }: Case): Rate => ({ ...written(numbers), maxDebt });

function limiterOf(each: Case, atMost?: Rate['atMost']) {
  const time = new FakeTime();
  const limits = { Only: { key: accountId(), ...limitOf(each), ...(atMost !== undefined && { atMost }) } };
  return { time, limiter: createLimiter({ limits, store: memoryStore({ time }), log: false }) };
}

/** The error of `atMost` for so many tokens in the window of the case; undefined if it accepts the numbers. */
function errorOf(each: Case, tokens: number): SluiceError | undefined {
  try {
    limiterOf(each, { [tokens]: `${each.windowMicros}us` });
    return undefined;
  } catch (error) {
    return error as SluiceError;
  }
}

/** The fewest tokens that `atMost` accepts. */
function fewestAccepted(each: Case): number {
  const most = Array.from({ length: 80 }, (_, i) => i + 1).find((tokens) => errorOf(each, tokens) === undefined);
  return most ?? Infinity;
}

/** The most tokens in any window that contains both its ends, counted one window after the other. */
function mostInAnyWindow(taken: readonly Taken[], windowMicros: number): number {
  const sums = taken.map(({ atMicros: start }) =>
    taken
      .filter(({ atMicros }) => atMicros >= start && atMicros <= start + windowMicros)
      .reduce((sum, { tokens }) => sum + tokens, 0),
  );
  return Math.max(0, ...sums);
}

/** Takes what it can at each of these moments: tokens by requests of cost 1, or a charge. */
function taking(each: Case, steps: readonly { pauseMicros: number; charge: number }[]): Taken[] {
  const { time, limiter } = limiterOf(each);
  const spend = (cost: number, mode: SpendEntry['mode']) =>
    limiter.spendSync([{ limit: 'Only', id: '7', cost, mode }]).results[0]!.spent;
  return steps.map(({ pauseMicros, charge }) => {
    time.advance(pauseMicros / 1000);
    const atMicros = time.nowMicros();
    if (charge > 0) return { atMicros, tokens: spend(Math.min(charge, each.numbers.burst + each.maxDebt), 'charge') };
    let tokens = 0;
    while (spend(1, 'check-and-spend') > 0) tokens++;
    return { atMicros, tokens };
  });
}

test('no sequence of requests and charges takes more tokens in any window than atMost accepts', () => {
  const step = fc.record({
    pause: fc.double({ min: 0, max: 6, noNaN: true }),
    charge: fc.constantFrom(0, 0, 0, 1, 5, 18),
  });
  fc.assert(
    fc.property(anyCase, fc.array(step, { maxLength: 25 }), (each, steps) => {
      const { periodMicros, count } = each.numbers;
      const taken = taking(
        each,
        steps.map(({ pause, charge }) => ({ pauseMicros: Math.ceil((pause * periodMicros) / count), charge })),
      );
      expect(mostInAnyWindow(taken, each.windowMicros)).toBeLessThanOrEqual(fewestAccepted(each));
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});

test('requests that wait in a queue continue at most as often as atMost accepts', () => {
  const step = fc.record({ pause: fc.double({ min: 0, max: 6, noNaN: true }), requests: fc.nat(12) });
  fc.assert(
    fc.property(
      anyCase,
      fc.integer({ min: 1, max: 5_000_000 }),
      fc.array(step, { maxLength: 12 }),
      (drawn, wait, steps) => {
        const each = { ...drawn, maxDebt: 0 };
        const time = new FakeTime();
        const limits = { Only: { key: accountId(), ...written(each.numbers), maxWait: `${1000 + wait}us` } };
        const limiter = createLimiter({ limits, store: memoryStore({ time }), log: false });
        const starts: Taken[] = [];
        for (const { pause, requests } of steps) {
          time.advance(Math.ceil((pause * each.numbers.periodMicros) / each.numbers.count) / 1000);
          for (let request = 0; request < requests; request++) {
            const { allowed, delayMs } = limiter.spendSync([{ limit: 'Only', id: '7' }]);
            const atMicros = time.nowMicros() + Math.round(delayMs * 1000);
            if (allowed) starts.push({ atMicros, tokens: 1 });
          }
        }
        // Delays are rounded up to whole microseconds, so that two starts may be closer by less than one.
        expect(mostInAnyWindow(starts, each.windowMicros - 1)).toBeLessThanOrEqual(fewestAccepted(each));
      },
    ),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});

test('a client that takes all it can in a window takes exactly the fewest tokens that atMost accepts', () => {
  fc.assert(
    fc.property(anyCase, (each) => {
      const { burst, count, periodMicros } = each.numbers;
      const interval = BigInt(Math.floor((periodMicros * 16) / count));
      // A clock of whole microseconds shows some tokens late. A bucket that contains a single one is then full too long.
      fc.pre(burst + each.maxDebt > 1 || interval % 16n === 0n);
      const { time, limiter } = limiterOf(each);
      const spend = (cost: number, mode: SpendEntry['mode']) =>
        limiter.spendSync([{ limit: 'Only', id: '7', cost, mode }]).results[0]!.spent;
      let tokens = spend(burst + each.maxDebt, 'charge');
      // Each token is taken by a charge of one at the moment at which it has come back.
      for (let taken = tokens; ; taken++) {
        const atMicros = Number((BigInt(taken - burst - each.maxDebt + 1) * interval + 15n) / 16n);
        if (atMicros > each.windowMicros) break;
        time.set(atMicros / 1000);
        tokens += spend(1, 'charge');
      }
      expect(tokens).toBe(fewestAccepted(each));
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});

test('the numbers that the error suggests satisfy the bound', () => {
  fc.assert(
    fc.property(anyCase, fc.integer({ min: 1, max: 40 }), (each, tokens) => {
      const error = errorOf(each, tokens);
      const [, burst, count, period] =
        /burst: (\d+), count: (\d+)(?:, period: '(\d+)s')?/.exec(error?.message ?? '') ?? [];
      if (burst === undefined) return;
      const periodMicros = period === undefined ? each.numbers.periodMicros : Number(period) * 1_000_000;
      const better = { ...each, numbers: { burst: Number(burst), count: Number(count), periodMicros } };
      expect(errorOf(better, tokens)).toBeUndefined();
    }),
  );
});

test('the error suggests no numbers only if the debt alone exceeds the bound', () => {
  fc.assert(
    fc.property(anyCase, fc.integer({ min: 1, max: 40 }), (each, tokens) => {
      const error = errorOf(each, tokens);
      const names = error === undefined || /burst: \d+, count: \d+/.test(error.message);
      expect(names).toBe(error === undefined || each.maxDebt < tokens);
    }),
  );
});
