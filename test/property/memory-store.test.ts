import { memoryStore, type MemoryStore } from '@sluice/core';
import { levelAfter, passes, type StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyNumbers } from './limit-arbitraries.ts';
import { OracleBuckets } from './oracle.ts';
import { atMost } from './runs.ts';
import { distinctParts, PartNumbers } from './store-parts.ts';

const T = 16_000_000;
const LIMITS = ['A', 'B', 'C', 'D'] as const;

interface Spent {
  readonly limit: (typeof LIMITS)[number];
  readonly id: number;
  readonly cost: number;
}

/** Each limit has an interval of its own, so that the buckets of one are full again much later than those of others. */
function transaction({ limit, id, cost }: Spent): StoreTransaction {
  const interval = T * 100 ** LIMITS.indexOf(limit);
  return {
    limit,
    id: `${id}`,
    incrementTicks: cost * interval,
    fitTicks: 5 * interval,
    capTicks: 5 * interval,
    mode: 'spend-only',
  };
}

const spent: fc.Arbitrary<Spent> = fc.record({
  limit: fc.constantFrom(...LIMITS),
  id: fc.nat(60),
  cost: fc.integer({ min: 1, max: 5 }),
});
/** One limit for a while, as in a flood, or one here and one there. */
const spending = fc.oneof(
  fc.array(spent, { maxLength: 20 }),
  fc
    .record({
      limit: fc.constantFrom(...LIMITS),
      ids: fc.integer({ min: 1, max: 80 }),
      cost: fc.integer({ min: 1, max: 5 }),
    })
    .map(({ limit, ids, cost }) => Array.from({ length: ids }, (_, id) => ({ limit, id: 100 + id, cost }))),
);
const spendings = fc.array(spending, { maxLength: 12 }).map((each) => each.flat());
const maxKeys = fc.integer({ min: 1, max: 60 });

function sizesOf(store: MemoryStore): Record<string, number> {
  return Object.fromEntries(Object.entries(store.stats().limits).map(([limit, { size }]) => [limit, size]));
}

test('no call displaces a bucket of a limit that has fewer buckets than another', () => {
  fc.assert(
    fc.property(maxKeys, spendings, (keys, calls) => {
      const store = memoryStore({ maxKeys: keys, time: new FakeTime() });
      const buckets = new Map<string, Spent>();
      for (const call of calls) {
        callsOf(store).spend([transaction(call)]);
        buckets.set(`${call.limit} ${call.id}`, call);
        const held = new Map(LIMITS.map((limit) => [limit, 0]));
        const gone: (readonly [key: string, bucket: Spent])[] = [];
        for (const [key, bucket] of buckets) {
          held.set(bucket.limit, held.get(bucket.limit)! + 1);
          if (callsOf(store).check([transaction({ ...bucket, cost: 0 })]).levelsTicks[0] === 0)
            gone.push([key, bucket]);
        }
        const most = Math.max(...held.values());
        for (const [key, { limit }] of gone) {
          expect(held.get(limit)).toBe(most);
          buckets.delete(key);
        }
        expect(gone.length).toBeLessThanOrEqual(1);
        expect(buckets.size).toBeLessThanOrEqual(keys);
      }
    }),
    { numRuns: atMost(300) },
  );
});

test('a limit keeps all its buckets while it has at most maxKeys / n of them, n being the limits that have any', () => {
  fc.assert(
    fc.property(maxKeys, spendings, (keys, calls) => {
      const store = memoryStore({ maxKeys: keys, time: new FakeTime() });
      for (const call of calls) {
        const before = sizesOf(store);
        callsOf(store).spend([transaction(call)]);
        const after = sizesOf(store);
        const fairShare = keys / new Set([...Object.keys(before), call.limit]).size;
        const within = Object.entries(before).filter(([, size]) => size <= fairShare);
        expect(within.filter(([limit, size]) => (after[limit] ?? 0) < size)).toEqual([]);
      }
    }),
    { numRuns: atMost(1000) },
  );
});

const alternatives = fc.array(distinctParts({ minLength: 0 }), { minLength: 1, maxLength: 4 });
/** Most calls come in heaps; the pause before each is a share of an hour. */
const calls = fc.array(fc.record({ alternatives, pause: fc.constantFrom(0, 0, 0, 1e-9, 1e-3, 1) }), { maxLength: 40 });

test('of alternatives exactly the first that passes by the exact rule is taken', () => {
  fc.assert(
    fc.property(fc.tuple(anyNumbers, anyNumbers), calls, (numbers, steps) => {
      const time = new FakeTime();
      const store = memoryStore({ time });
      const oracle = new OracleBuckets();
      const parts = new PartNumbers(numbers);
      for (const { alternatives: tried, pause } of steps) {
        time.advance(pause * 3_600_000);
        const batches = tried.map((each) => each.map((one) => parts.transaction(one)));
        const asked = tried.map((each) => each.map((one) => parts.asked(one)));
        const readings = callsOf(store).spendFirst(batches);
        const said = readings.map(({ levelsTicks }, i) => {
          const allowed = passes(batches[i]!, levelsTicks);
          const after = levelsTicks.map((level, j) => (allowed ? levelAfter(batches[i]![j]!, level) : level));
          return { allowed, resets: after.map((level) => Math.ceil(level / 16) / 1000) };
        });
        const exact = oracle.decideFirst(asked, BigInt(time.nowMicros()), true);
        expect(said).toEqual(
          exact.map(({ allowed, answers }) => ({ allowed, resets: answers.map(({ resetAfterMs }) => resetAfterMs) })),
        );
      }
    }),
    { numRuns: atMost(500) },
  );
});
