import { createLimiter, memoryStore, type Store } from '@sluice/core';
import { storeGuard, type ReadingToFill, type StoreOperation, type StoreReading } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { accountLimits } from '../support/limiter-on-fake-time.ts';

const minute = { burst: 3, count: 3, period: '1m' };
const EMPTY = 60 * 16_000_000;
const entries = ['Orders', 'Reads'].map((limit) => ({ limit, id: '7' }));

/** What a store says that has decided, and whose levels show something else, because it has read them later. */
const LATE = { allowed: { passed: 0, level: 2 * EMPTY }, denied: { passed: -1, level: 0 } } as const;

type Verdict = keyof typeof LATE;

function lateReading(verdict: Verdict, operation: StoreOperation): StoreReading {
  const { passed, level } = LATE[verdict];
  const [batch = []] = 'alternatives' in operation ? operation.alternatives : [];
  return { passed, nowTicks: 0, levelsTicks: batch.map(() => level) };
}

const stores: Readonly<Record<string, (verdict: Verdict) => Store>> = {
  'answers later': (verdict) => ({ guard: storeGuard, run: async (asked) => lateReading(verdict, asked), close() {} }),
  'answers by a value': (verdict) => ({ guard: storeGuard, run: (asked) => lateReading(verdict, asked), close() {} }),
  'answers at once': (verdict) => ({
    traits: { answersAtOnce: true },
    run: (asked) => lateReading(verdict, asked),
    close() {},
  }),
  'fills a reading': (verdict) =>
    Object.assign(memoryStore({ time: new FakeTime() }), {
      take(batch: readonly unknown[], reading: ReadingToFill) {
        reading.passed = LATE[verdict].passed;
        reading.nowTicks = 0;
        for (const i of batch.keys()) reading.levelsTicks[i] = LATE[verdict].level;
      },
    }),
};

describe.each(Object.entries(stores))('a store that %s', (_how, storeOf) => {
  const limiterOn = (verdict: Verdict) =>
    createLimiter({ limits: accountLimits({ Orders: minute, Reads: minute }), store: storeOf(verdict), log: false });

  test.each(['allowed', 'denied'] as const)('has decided when it says %s, whatever its levels are', async (verdict) => {
    for (const count of [1, 2]) {
      const decision = await limiterOn(verdict).spend(entries.slice(0, count));
      expect(decision).toMatchObject({ outcome: verdict, failure: undefined });
      expect(decision.results.map(({ spent }) => spent)).toEqual(Array(count).fill(verdict === 'allowed' ? 1 : 0));
    }
  });

  test('denies the only limit when it denies, so that its client is told so', async () => {
    const decision = await limiterOn('denied').spend(entries.slice(0, 1));
    expect(decision.results).toMatchObject([{ limit: 'Orders', allowed: false }]);
    expect(decision.overloaded).toBe(false);
  });
});

test.each([
  [1, 'Reads'],
  [-1, 'Orders'],
])('of alternatives, the one with index %i is taken, whatever the levels are', async (passed, limit) => {
  const levelsTicks = passed < 0 ? [0, EMPTY] : [0, 2 * EMPTY];
  const store = { guard: storeGuard, run: async () => ({ passed, nowTicks: 0, levelsTicks }), close() {} };
  const limiter = createLimiter({ limits: accountLimits({ Orders: minute, Reads: minute }), store, log: false });
  const decision = await limiter.spend({ firstOf: entries.map((entry) => [entry]) });
  expect(decision).toMatchObject({ allowed: passed >= 0, limit });
});
