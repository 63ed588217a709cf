// What one bucket lets through while several sets of numbers are in use on it: two versions in a roll-out, a plan that a
// token names, an override that some processes do not know yet.
import { accountId, createLimiter, memoryStore, type Store, type StoreTransaction } from '@sluice/core';
import { passes } from '@sluice/core/kit';
import { FakeClock } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { quickNumbers, written } from './limit-arbitraries.ts';
import { atOnce } from './one-bucket.ts';
import { roundedRule, type Numbers } from './oracle.ts';

interface Taken {
  readonly atTicks: bigint;
  readonly tokens: number;
}

/** By how many ticks of the fastest rate the tokens of some window exceed the promise; 0 when none does. */
function worstExcess(taken: readonly Taken[], all: readonly Numbers[]): bigint {
  const rules = all.map(roundedRule);
  const fastest = rules.map(({ interval }) => interval).reduce((a, b) => (a < b ? a : b));
  const isOneRate = rules.every(({ interval }) => interval === fastest);
  const bursts = rules.map(({ burst }) => burst);
  const most = bursts.reduce((a, b) => (isOneRate ? (a > b ? a : b) : a + b));
  let worst = 0n;
  for (let from = 0; from < taken.length; from++) {
    let tokens = 0n;
    for (let to = from; to < taken.length; to++) {
      tokens += BigInt(taken[to]!.tokens);
      const excess = (tokens - most) * fastest - (taken[to]!.atTicks - taken[from]!.atTicks);
      if (excess > worst) worst = excess;
    }
  }
  return worst;
}

const fewTokens = fc.integer({ min: 1, max: 50 });
/** Sets of numbers with one rate and several bursts, and sets that differ in both. */
const oneRate = quickNumbers.chain((numbers) =>
  fc.array(fewTokens, { minLength: 2, maxLength: 4 }).map((bursts) => bursts.map((burst) => ({ ...numbers, burst }))),
);
const severalRates = fc
  .array(fc.tuple(quickNumbers, fewTokens), { minLength: 2, maxLength: 4 })
  .map((sets) => sets.map(([numbers, burst]) => ({ ...numbers, burst })));
const sets = fc.oneof(oneRate, severalRates).filter((all) => all.every(fillsWithinAYear));

function fillsWithinAYear(numbers: Numbers): boolean {
  return roundedRule(numbers).tolerance < 365n * 86_400n * 16_000_000n;
}

const step = fc.record({
  numbers: fc.nat(3),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  // How long to wait before, as a share of the T of these numbers; most come in heaps.
  pause: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.double({ min: 0, max: 3, noNaN: true })),
});
const steps = fc.array(step, { minLength: 1, maxLength: 40 });

test('in memory, no window holds more than the largest burst + rate × time, or with several rates the bursts + fastest rate × time', () => {
  fc.assert(
    fc.property(sets, steps, (all, asked) => {
      const clock = new FakeClock(0);
      let current = all[0]!;
      const limiter = createLimiter({
        limits: { Only: { key: accountId(), ...written(current) } },
        overrides: () => written(current),
        store: memoryStore({ clock }),
        log: false,
      });
      const taken: Taken[] = [];
      for (const { numbers, share, pause } of asked) {
        current = all[numbers % all.length]!;
        clock.advance((pause * Number(roundedRule(current).interval)) / 16_000);
        const tokens = Math.max(1, Math.floor(share * current.burst));
        const { allowed } = atOnce(limiter.spend([{ limit: 'Only', id: '7', cost: tokens }]));
        if (allowed) taken.push({ atTicks: BigInt(clock.nowMicros()) * 16n, tokens });
      }
      expect(worstExcess(taken, all)).toBe(0n);
    }),
  );
});

const server = await redisServer();
const RUNS = Math.min(300, Number(process.env['SLUICE_PROPERTY_RUNS'] ?? 300));

test('on Redis it does so as well, in calls of its own and in one call together', async () => {
  const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(sets, steps, fc.boolean(), async (all, asked, together) => {
      const id = String(run++);
      const batches = asked.map(({ numbers, share }) => transactionOf(id, all[numbers % all.length]!, share));
      const taken = together
        ? (await Promise.all(batches.map((batch) => spend(store, batch)))).flat()
        : await inTurn(store, batches);
      expect(worstExcess(taken, all)).toBe(0n);
    }),
    { numRuns: RUNS },
  );
  await store.close();
});

function transactionOf(id: string, numbers: Numbers, share: number): StoreTransaction & { tokens: number } {
  const { interval, tolerance } = roundedRule(numbers);
  const tokens = Math.max(1, Math.floor(share * numbers.burst));
  const incrementTicks = tokens * Number(interval);
  return { limit: 'Only', id, incrementTicks, toleranceTicks: Number(tolerance), mode: 'check-and-spend', tokens };
}

async function spend(store: Store, transaction: StoreTransaction & { tokens: number }): Promise<Taken[]> {
  const { nowTicks, levelsTicks } = await store.spend([transaction]);
  return passes([transaction], levelsTicks) ? [{ atTicks: BigInt(nowTicks), tokens: transaction.tokens }] : [];
}

async function inTurn(store: Store, batches: readonly ReturnType<typeof transactionOf>[]): Promise<Taken[]> {
  const taken: Taken[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const batch of batches) taken.push(...(await spend(store, batch)));
  return taken;
}
