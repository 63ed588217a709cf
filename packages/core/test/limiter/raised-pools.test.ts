import { accountId, createLimiter, everyone, type OverrideTable } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';

const slow = { count: 10, period: '1h' };
const quick = { count: 100, period: '1s' };

/** Two clients have a burst of 10 tokens each, so the pool goes 20 tokens below empty. */
function setOf(pool: typeof slow, overrides: OverrideTable = {}) {
  const { period } = pool;
  const borrow = { from: 'Pool', ceiling: { burst: 20, count: 20, period }, tenants: 2 };
  const limits = {
    PerUser: borrowLimit({ key: accountId(), burst: 10, count: 5, period, borrow }),
    Pool: { key: everyone(), ...pool },
  };
  return { limits, overrides };
}

const long = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`x${i}`, 'blocked' as const]));

/** A pool whose clients have left it 10 tokens below empty. */
function indebted(overrides?: OverrideTable) {
  const time = new FakeTime();
  const limiter = createLimiter({ ...setOf(slow, overrides), time, log: false });
  const spend = (id: string, cost: number) => limiter.spendSync([{ limit: 'PerUser', id, cost }]);
  for (const id of ['a', 'b']) expect(spend(id, 10).allowed).toBe(true);
  return { limiter, time, spend };
}

describe('a raised pool that was below empty lends again after the time that the new numbers need', () => {
  test.each([
    ['without overrides', {}, {}],
    ['while a long list of overrides is still being compared', long, { ...long, y: 'blocked' }],
  ] as const)('%s', (_, before, after) => {
    const { limiter, time, spend } = indebted({ PerUser: before });
    limiter.replace(setOf(quick, { PerUser: after }));
    spend('a', 1);
    // The deepest debt of the new numbers is 120 tokens; 'a' needs 2 s for its own.
    time.advance(2000);
    expect(spend('a', 10).results).toMatchObject([{ allowed: true, borrowed: false }]);
    expect(spend('a', 1).results).toMatchObject([{ allowed: true, borrowed: true }]);
  });
});
