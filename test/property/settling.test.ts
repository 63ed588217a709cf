import { createLimiter, everyone, memoryStore, type Decision, type Limiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atMost } from './runs.ts';

const RATE = { key: everyone(), burst: 100, count: 1, period: '1s' } as const;
const id = 'everyone';
const tokens = (cost: number) => ({ limit: 'Tokens', id, cost });

function limited() {
  const time = new FakeTime();
  const limits = { Tokens: { ...RATE, maxDebt: 30 }, Others: RATE };
  const limiter: Limiter = createLimiter({ limits, store: memoryStore({ time }), time, log: false });
  return { limiter, time };
}

interface Step {
  readonly what: 'spend' | 'settle' | 'refund';
  /** The number of a decision. */
  readonly which: number;
  readonly cost: number;
}

describe('of many decisions, settled again and again', () => {
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      what: fc.constantFrom('spend' as const, 'settle' as const, 'settle' as const, 'refund' as const),
      which: fc.nat(4),
      cost: fc.nat(60),
    }),
    { maxLength: 30 },
  );

  test('the bucket has lost at each instant what all settlements say that is spent', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const { limiter } = limited();
        const levelMs = (): number => limiter.checkSync([tokens(0)]).resetAfterMs;
        const spent = new Map<Decision, number>();
        /** Returns whether a settlement took the true cost, or all that there was. */
        const settle = async (decision: Decision, cost: number): Promise<boolean> => {
          const [settlement] = await limiter.settle(decision, { Tokens: cost });
          spent.set(decision, settlement!.spent);
          return settlement!.spent === (decision.allowed ? cost : 0) || levelMs() === 130_000;
        };
        const take = async ({ what, which, cost }: Step): Promise<boolean> => {
          const decision = what === 'spend' ? limiter.spendSync([tokens(cost)]) : [...spent.keys()][which];
          if (decision === undefined) return true;
          if (what === 'settle') return settle(decision, cost);
          if (what === 'refund') await limiter.refund(decision);
          spent.set(decision, what === 'refund' ? 0 : decision.results[0]!.spent);
          return true;
        };
        for (const step of all) {
          expect(await take(step)).toBe(true);
          expect(levelMs()).toBe([...spent.values()].reduce((sum, each) => sum + each, 0) * 1000);
        }
      }),
      { numRuns: atMost(150) },
    );
  });

  test('nothing is given back that others took, or that has refilled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.nat(40_000), cost: fc.nat(60), others: fc.nat(20) })),
        async (all) => {
          const { limiter, time } = limited();
          const decision = limiter.spendSync([tokens(40)]);
          for (const { ms, cost, others } of all) {
            time.advance(ms);
            const taken = limiter.spendSync([tokens(others)]);
            if (taken.allowed) limiter.spendSync([{ limit: 'Others', id, cost: others }]);
            await limiter.settle(decision, { Tokens: cost });
            const levels = ['Tokens', 'Others'].map(
              (limit) => limiter.checkSync([{ limit, id, cost: 0 }]).resetAfterMs,
            );
            expect(levels[0]).toBeGreaterThanOrEqual(levels[1]!);
          }
        },
      ),
      { numRuns: atMost(150) },
    );
  });
});
