import { accountId, createLimiter, type Decision } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { leasedStore } from '@sluice/redis';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';
import { until } from '../redis/servers/until.ts';
import { realDelay } from '../real-delay.ts';
import { atMost } from './runs.ts';

const server = await redisServer();

/** So many requests at once make a process lease tokens. */
const LEAST_LEASED = 30;
/** What the decisions of a run cost together, at most. */
const MOST_COSTS = 24;
/** A token comes back in 86 seconds. */
const LIMIT = { key: accountId(), burst: 1000, count: 1000, period: '24h', overshoot: 0.01 } as const;

interface Step {
  readonly what: 'spend' | 'settle' | 'refund';
  readonly which: number;
  readonly cost: number;
}

test('decisions that leases have paid for, settled again and again, take what the settlements say', async () => {
  const time = new FakeTime();
  const store = leasedStore({ url: server.url, prefix: 'settled:', gateways: 1, maxWait: '1s', log: false, time });
  const limiter = createLimiter({ limits: { Calls: LIMIT }, store, time, log: false, failure: { deadlineMs: 20_000 } });
  running.add({
    close: async () => {
      await limiter.close({ store: true });
    },
  });
  await limiter.ready();
  const entry = (id: string, cost: number) => [{ limit: 'Calls', id, cost } as const];
  const left = async (id: string): Promise<number> => (await limiter.check(entry(id, 0))).remaining;

  /** Asks until this process has a lease that pays for the next decisions. The clock, and so its life, stands still then. */
  const leaseFor = async (id: string): Promise<void> => {
    await until('leases pay for all costs of a run', async () => {
      let waiting = LEAST_LEASED;
      for (let i = 0; i < LEAST_LEASED; i++) void limiter.spend(entry(id, 1)).then(() => waiting--);
      await until('all are decided', async () => {
        await time.pass(1);
        return waiting === 0;
      });
      const before = await left(id);
      // One token each: Redis would decide a cost that is large beside the overdraft.
      const probes: Decision[] = [];
      for (let i = 0; i < MOST_COSTS; i++) void limiter.spend(entry(id, 1)).then((each) => probes.push(each));
      await realDelay(0);
      for (const each of probes) await limiter.refund(each);
      return probes.length === MOST_COSTS && (await left(id)) === before;
    });
  };

  let ids = 0;
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      what: fc.constantFrom('spend' as const, 'settle' as const, 'settle' as const, 'refund' as const),
      which: fc.nat(2),
      cost: fc.nat(3),
    }),
    { minLength: 3, maxLength: 8 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const id = String(ids++);
      await leaseFor(id);
      const before = await left(id);
      const spent = new Map<Decision, number>();
      for (const { what, which, cost } of all) {
        const decision = what === 'spend' ? await limiter.spend(entry(id, cost)) : [...spent.keys()][which];
        if (decision === undefined) continue;
        // What a settlement charges is beyond the leases, and its refund is seen only after a sync.
        const kept = Math.min(cost, spent.get(decision) ?? cost);
        if (what === 'settle') await limiter.settle(decision, { Calls: kept });
        if (what === 'refund') await limiter.refund(decision);
        if (what === 'spend') spent.set(decision, decision.allowed ? cost : 0);
        else spent.set(decision, what === 'refund' ? 0 : kept);
        const taken = [...spent.values()].reduce((sum, each) => sum + each, 0);
        expect(before - (await left(id))).toBe(taken);
      }
    }),
    { numRuns: atMost(8) },
  );
});
