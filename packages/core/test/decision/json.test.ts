import { accountId, createLimiter, type Decision, type Limiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { RequestDecision } from '../../src/http/request-decision.ts';
import type { RequestLimiter } from '../../src/limiter/request-limiter.ts';

const limits = {
  Orders: { key: accountId(), count: 5, period: '1m' },
  Logins: { key: accountId(), count: 3, period: '1m' },
} as const;

function limiterOf(): Limiter {
  return createLimiter({ limits, time: new FakeTime(), log: false });
}

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('the JSON of a decision has its figures and the results of all limits', async () => {
  const limiter = limiterOf();
  const entries = [{ limit: 'Orders', id: 'ann', cost: 2 }];
  const figures = { outcome: 'allowed', allowed: true, limit: 'Orders', id: 'ann', remaining: 3, retryAfterMs: 0 };
  const result = { limit: 'Orders', id: 'ann', cost: 2, spent: 2, remaining: 3, burst: 5, allowed: true };
  expect(jsonOf(await limiter.spend(entries))).toMatchObject({ ...figures, results: [result] });
  expect(inspect(await limiter.check(entries))).toContain('results: [');
  const both = await limiter.spend([...entries, { limit: 'Logins', id: 'ann' }]);
  expect(jsonOf(both)).toMatchObject({ limit: 'Orders', results: [{ limit: 'Orders' }, { limit: 'Logins' }] });
  // A check takes nothing, whenever its results are read.
  const checked = await limiter.check([{ limit: 'Logins', id: 'ann' }]);
  await limiter.spend([{ limit: 'Logins', id: 'ann' }]);
  expect(jsonOf(checked)).toMatchObject({ remaining: 2, results: [{ spent: 0, remaining: 2 }] });
});

test('the JSON of the decision on a request has the results of all middlewares', async () => {
  const limiter = limiterOf() as Limiter & RequestLimiter<never>;
  const onRequest = new RequestDecision();
  for (const limit of ['Orders', 'Logins']) {
    const decision: Decision = await limiter.spend([{ limit, id: 'ann' }]); // oxlint-disable-line no-await-in-loop
    onRequest.add({ decision, limiter, limits: [{ limit }] });
  }
  expect(inspect(onRequest)).toContain('results: [');
  expect(jsonOf(onRequest)).toMatchObject({
    outcome: 'allowed',
    limit: 'Logins',
    results: [{ limit: 'Orders' }, { limit: 'Logins' }],
  });
});
