import { memoryStore } from '@sluice/core';
import { StalePeriodError, type ReadingToFill, type StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Comparison, scenes } from './calendar.ts';
import { RUNS } from './runs.ts';

const JULY = Date.UTC(2026, 6, 1);

test('the memory store counts as defined in any calendar, and never grants more than the quota of a period', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const time = new FakeTime();
      time.setWall(JULY);
      const comparison = new Comparison(memoryStore({ time }), time, JULY, scene);
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
      expect(comparison.mostGranted).toBeLessThanOrEqual(scene.count);
    }),
    { numRuns: RUNS },
  );
});

const HOUR_MS = 3_600_000;

/** One decision, by the periods of a caller whose clock may be wrong, after the wall clock was moved or set. */
const decisions = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b'),
    cost: fc.nat(4),
    mode: fc.constantFrom('check-and-spend', 'check-and-spend', 'check-only', 'spend-only', 'charge'),
    moveMs: fc.constantFrom(0, 0, 0, 1, 20_000, HOUR_MS, HOUR_MS, -20_000, -HOUR_MS, 1000 * HOUR_MS, -1000 * HOUR_MS),
    skewMs: fc.constantFrom(0, 0, 0, HOUR_MS, -HOUR_MS, 5 * HOUR_MS),
  }),
  { maxLength: 40 },
);

test('the memory store decides a quota that is alone as it decides it among others, at any wall clock', () => {
  fc.assert(
    fc.property(decisions, (steps) => {
      const time = new FakeTime();
      time.setWall(JULY);
      const [alone, among] = [memoryStore({ time }), memoryStore({ time })];
      for (const { id, cost, mode, moveMs, skewMs } of steps) {
        time.setWall(time.wallNow() + moveMs);
        const start = Math.floor((time.wallNow() + skewMs) / HOUR_MS) * HOUR_MS;
        const quota: StoreTransaction = {
          limit: 'Quota',
          id,
          calendar: 'hour:0:0:UTC',
          period: [start, start + HOUR_MS, start + 2 * HOUR_MS],
          incrementTicks: cost,
          fitTicks: 5,
          capTicks: 5,
          mode,
        };
        const reading: ReadingToFill = {
          passed: undefined,
          nowTicks: NaN,
          levelsTicks: [NaN],
          bucketNowTicks: undefined,
          bucketWallMs: undefined,
        };
        const taken = outcomeOf(() => (alone.take([quota], reading), reading));
        expect(taken).toEqual(outcomeOf(() => callsOf(among).spend([quota])));
        expect(alone.stats().limits).toEqual(among.stats().limits);
      }
    }),
    { numRuns: RUNS },
  );
});

function outcomeOf<T>(call: () => T): T | 'stale' {
  try {
    return call();
  } catch (error) {
    if (error instanceof StalePeriodError) return 'stale';
    throw error;
  }
}
