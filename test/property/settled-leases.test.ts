import type { Decision } from '@sluice/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LimiterGateways } from '../leases/limiter-gateways.ts';
import { Random } from '../leases/random.ts';
import { RUNS } from './runs.ts';

/** A token comes back in a second, and a process may let 19 through before it reports them. */
const LIMIT = { burst: 1000, count: 1, overshoot: 0.02 };
/** What Redis decides, so that the bucket is not full again in a run. */
const BEFORE = 500;
/** Longer than a sync, and than a lease lasts. */
const SYNCED_MS = 500;

interface Step {
  readonly what: 'spend' | 'settle' | 'refund' | 'pass';
  readonly which: number;
  readonly cost: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    what: fc.constantFrom<Step['what'][]>('spend', 'spend', 'settle', 'settle', 'settle', 'refund', 'pass'),
    which: fc.nat(5),
    cost: fc.nat(30),
  }),
  { minLength: 3, maxLength: 15 },
);

test('decisions of leased limits, settled upwards and down again, take in Redis no less than the settlements say, and no more without leases', async () => {
  let leases = 0;
  let raised = 0;
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(0, 40), fc.nat(), async (all, asked, seed) => {
      const options = { limits: { Calls: LIMIT }, gateways: 1, roundTripMs: 4, stepMicros: 1 };
      const gateways = new LimiterGateways(options, new Random(seed));
      const { time } = gateways;
      const limiter = gateways.limiters[0]!;
      const entry = (cost: number) => [{ limit: 'Calls', id: 'ann', cost } as const];
      const passing = async <T>(work: Promise<T>): Promise<T> => {
        let isOver = false;
        void work.finally(() => (isOver = true)).catch(() => undefined);
        // oxlint-disable-next-line no-await-in-loop, no-unmodified-loop-condition -- until it is over
        while (!isOver) await time.pass(1);
        return work;
      };
      await passing(limiter.spend(entry(BEFORE)));
      // From its first sync on, a process knows the clock of Redis.
      await time.pass(SYNCED_MS);
      const beforeTicks = gateways.tatTicks('Calls', 'ann');

      const spent = new Map<Decision, number>();
      const wrong: unknown[] = [];
      for (const each of await passing(Promise.all(Array.from({ length: asked }, () => limiter.spend(entry(1)))))) {
        spent.set(each, each.allowed ? 1 : 0);
      }
      for (const { what, which, cost } of all) {
        const decision = [...spent.keys()].at(-1 - which);
        if (what === 'pass') await time.pass(10 * cost);
        if (what === 'spend') {
          const made = await passing(limiter.spend(entry(cost % 9)));
          spent.set(made, made.allowed ? cost % 9 : 0);
        }
        if (decision === undefined || spent.get(decision) === undefined) continue;
        if (what === 'settle') {
          const [settlement] = await passing(limiter.settle(decision, { Calls: cost }));
          if (cost > spent.get(decision)!) raised++;
          if (decision.allowed) spent.set(decision, cost);
          if (settlement!.spent !== spent.get(decision)) wrong.push(settlement);
        }
        if (what === 'refund') {
          await passing(limiter.refund(decision));
          spent.set(decision, 0);
        }
      }
      await time.pass(SYNCED_MS);
      const tokens = (gateways.tatTicks('Calls', 'ann') - beforeTicks) / gateways.intervalTicks('Calls');
      leases += gateways.leases;
      await gateways.close();
      const said = [...spent.values()].reduce((sum, each) => sum + each, 0);
      // What a lease has paid for is lost if it comes back after the lease has lapsed.
      const isExact = gateways.leases > 0 || tokens === said;
      expect({ wrong, tokens, said, isExact }).toEqual({
        wrong: [],
        tokens: Math.max(tokens, said),
        said,
        isExact: true,
      });
    }),
    { numRuns: RUNS },
  );
  // Leases have paid for some, and some were raised.
  expect(leases).toBeGreaterThan(0);
  expect(raised).toBeGreaterThan(0);
});
