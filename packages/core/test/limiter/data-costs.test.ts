import { expect, test } from 'vitest';
import { accountId, type Override } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createDataLimiter } from '@sluice/core/kit';
import { FakeTime } from '@sluice/core/testing';
import { denialOf } from '../../src/http/denial.ts';
import { retryAfterSeconds } from '../../src/http/fields.ts';

function limiterOf(overrides: Readonly<Record<string, Override>> = {}) {
  return createDataLimiter({
    limits: {
      Orders: { key: accountId(), count: 2, period: '1m' },
      Slots: concurrency({ key: accountId(), concurrency: 1 }),
      Queue: { key: accountId(), count: 1, period: '1s', burst: 2, maxWait: '9s' },
      Other: { key: accountId(), count: 5, period: '1m' },
    },
    overrides: { Orders: overrides },
    time: new FakeTime(0),
  });
}

const OTHER = { limit: 'Other', id: '1' };

test.each([
  { limit: 'Orders', id: '1', cost: 3 },
  { limit: 'Slots', id: '1', cost: 2 },
  { limit: 'Queue', id: '1', cost: 3 },
])('a cost of data above the burst is a denial without an end, which takes nothing: $limit', async (never) => {
  const limiter = limiterOf();
  const decision = limiter.spendSync([OTHER, never], { hold: true });
  expect(decision).toMatchObject({ outcome: 'denied', limit: never.limit, blocked: false, retryAfterMs: Infinity });
  expect(JSON.parse(JSON.stringify(await limiter.spend([never], { hold: true })))).toMatchObject({
    retryAfterMs: null,
  });
  expect(limiter.checkSync([OTHER]).remaining).toBe(5);
});

test('beside a cost that can never pass, a decision has the figures of the others', () => {
  const limiter = limiterOf();
  limiter.spendSync([{ ...OTHER, cost: 4 }]);
  const asked = [
    { limit: 'Orders', id: '1', cost: 3 },
    { ...OTHER, cost: 2 },
  ];
  const { results } = limiter.spendSync(asked);
  expect(results.map(({ limit, allowed, remaining }) => [limit, allowed, remaining])).toEqual([
    ['Orders', false, 0],
    ['Other', false, 1],
  ]);
});

test('the response to a cost that can never pass is a 429 without Retry-After, which says so', () => {
  const decision = limiterOf().spendSync([{ limit: 'Orders', id: '1', cost: 3 }]);
  expect(retryAfterSeconds(decision, 0)).toBe(0);
  expect(denialOf(decision, 0)).toMatchObject({ status: 429, retryAfterSeconds: undefined });
  expect(JSON.parse(denialOf(decision, 0).body)).toMatchObject({
    detail: 'Rate limit "Orders" exceeded. Sending it again will not help.',
    'violated-policies': ['Orders'],
  });
});

test('of data, a blocked id is blocked whatever the costs are, and an unlimited one has any', () => {
  const limiter = limiterOf({ 1: 'blocked', 2: 'unlimited' });
  const costs = [
    { limit: 'Other', id: '1', cost: 6 },
    { limit: 'Orders', id: '1', cost: 3 },
  ];
  expect(limiter.spendSync(costs)).toMatchObject({ outcome: 'denied', blocked: true });
  expect(limiter.spendSync([{ limit: 'Orders', id: '2', cost: 3 }])).toMatchObject({ outcome: 'allowed' });
});

test('a charge of data above the burst empties the bucket, as any', async () => {
  const limiter = limiterOf();
  expect(await limiter.charge([{ limit: 'Orders', id: '1', cost: 3 }])).toMatchObject([{ remaining: 0 }]);
});
