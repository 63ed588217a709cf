import { createLimiter, memoryStore, accountId, type Decision, type Limiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { counts, readMetrics } from '@sluice/core/metrics';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sized } from '../sized.ts';

const key = accountId(() => null);
const LIMITS = {
  Orders: { key, count: 5, period: '1s' },
  Exports: { key, count: 2, period: '1s', maxWait: '2s', maxDebt: 3 },
  Monthly: quota({ key, count: 40, per: 'month' }),
  InFlight: concurrency({ key, concurrency: 3 }),
} as const;
/** In `npm run test:all` each of 1,000 inputs has all of them: 100,000 decisions. */
const STEPS = 100;
type Name = keyof typeof LIMITS;

const step = fc.record({
  limits: fc.uniqueArray(fc.constantFrom<Name>('Orders', 'Exports', 'Monthly', 'InFlight'), { maxLength: 3 }),
  id: fc.constantFrom('a', 'b', 'blocked'),
  cost: fc.integer({ min: 0, max: 2 }),
  mode: fc.constantFrom('check-and-spend', 'check-only', 'spend-only'),
  after: fc.constantFrom('nothing', 'refund', 'charge', 'reset'),
  waitMs: fc.integer({ min: 0, max: 900 }),
});

interface Sums {
  denials: number;
  taken: number;
  charged: number;
  refunded: number;
}

/** The sums that follow from the decisions themselves. */
class Expected {
  readonly decisions = new Map<string, number>();
  readonly limits = new Map<string, Sums>();

  of(limit: string): Sums {
    const sums = this.limits.get(limit) ?? { denials: 0, taken: 0, charged: 0, refunded: 0 };
    this.limits.set(limit, sums);
    return sums;
  }

  add({ limit, outcome, results }: Decision): void {
    const kind = `${limit} ${outcome}`;
    this.decisions.set(kind, (this.decisions.get(kind) ?? 0) + 1);
    for (const { limit: name, allowed, spent } of results) {
      this.of(name).taken += spent;
      if (!allowed) this.of(name).denials += 1;
    }
  }
}

function limiterOf(time: FakeTime): Limiter<unknown, Name> {
  return createLimiter({
    limits: LIMITS,
    overrides: { Orders: { blocked: 'blocked' } },
    store: memoryStore({ time }),
    time,
    log: false,
  });
}

test('the counts of a limiter are the sums over its decisions and corrections, of every kind of limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: sized(1, STEPS), maxLength: STEPS }), async (steps) => {
      const time = new FakeTime();
      const limiter = limiterOf(time);
      const expected = new Expected();
      counts(limiter);
      for (const { limits, id, cost, mode, after, waitMs } of steps) {
        const entries = limits.map((limit) => ({ limit, id, cost, mode }));
        const decision = limiter.spendSync(entries, { hold: limits.includes('InFlight') });
        expected.add(decision);
        if (after === 'charge') {
          const [left] = limiter.checkSync([{ limit: 'Orders', id, mode: 'spend-only' }]).results;
          await limiter.charge([{ limit: 'Orders', id, cost }]);
          // A blocked id has no bucket, and others at most what is left.
          if (id !== 'blocked') expected.of('Orders').charged += Math.min(cost, left!.remaining);
        }
        if (after === 'refund') {
          await limiter.refund(decision);
          for (const { limit, spent, kind } of decision.results)
            if (kind !== 'concurrency') expected.of(limit).refunded += spent;
        }
        if (after === 'reset') await limiter.reset([{ limit: 'Orders', id: 'a' }]);
        if (waitMs > 450) await decision.release();
        time.advance(waitMs);
      }
      const { decisions, limits } = counts(limiter);
      expect(new Map(decisions.map(({ limit, outcome, count }) => [`${limit} ${outcome}`, count]))).toEqual(
        expected.decisions,
      );
      for (const [name, sums] of expected.limits) {
        const { denials, tokens } = limits[name]!;
        expect({ denials, taken: tokens.taken, charged: tokens.charged, refunded: tokens.refunded }).toEqual(sums);
      }
      // However many ids there are, there are only as many values as limits and outcomes.
      for (const { samples } of readMetrics(limiter)) expect(samples.length).toBeLessThanOrEqual(40);
      await limiter.close();
    }),
  );
});
