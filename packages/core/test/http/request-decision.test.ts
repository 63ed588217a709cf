import { accountId, createLimiter, type Decision, type Limiter, type Store } from '@sluice/core';
import { RequestDecision } from '@sluice/core/http';
import { storeGuard, type Mode } from '@sluice/core/store';
import { expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';

const brokenStore = (): Store => {
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  return { guard: storeGuard, run: refuse, close: () => undefined };
};

function limiterOf(name: string, count: number, store?: Store): Limiter {
  return createLimiter({ limits: { [name]: { key: accountId(), count, period: '1m' } }, store, log: false });
}

async function add(onRequest: RequestDecision, limiter: Limiter, limit: string, mode?: Mode): Promise<Decision> {
  const decision = await limiter.spend([{ limit, id: 'ann', mode }]);
  onRequest.add({ decision, limiter: coreOf(limiter), limits: [{ limit }] });
  return decision;
}

test('the failure that is reported is that of the strictest decision', async () => {
  const failing = limiterOf('Failing', 5, brokenStore());
  const onRequest = new RequestDecision();
  await add(onRequest, failing, 'Failing');
  expect(onRequest.failure).toMatchObject({ policy: 'local' });
  await add(onRequest, limiterOf('Strict', 1), 'Strict');
  expect(onRequest).toMatchObject({ limit: 'Strict', failure: undefined });
});

test('of equally strict decisions the first stays', async () => {
  const onRequest = new RequestDecision();
  await add(onRequest, limiterOf('First', 1), 'First');
  await add(onRequest, limiterOf('Second', 1), 'Second');
  expect(onRequest.limit).toBe('First');
});

test.each(['before', 'after'])(
  'a decision of spend-only limits alone is not reported %s one that checks',
  async (when) => {
    const onRequest = new RequestDecision();
    const counting = limiterOf('Counting', 1);
    if (when === 'before') await add(onRequest, counting, 'Counting', 'spend-only');
    await add(onRequest, limiterOf('Checking', 50), 'Checking');
    if (when === 'after') await add(onRequest, counting, 'Counting', 'spend-only');
    expect(onRequest).toMatchObject({ limit: 'Checking', remaining: 49 });
  },
);

test('a decision of spend-only limits alone is reported where there is no other', async () => {
  const onRequest = new RequestDecision();
  await add(onRequest, limiterOf('Counting', 5), 'Counting', 'spend-only');
  expect(onRequest).toMatchObject({ limit: 'Counting', remaining: 4 });
});

test('a bucket that several decisions met is charged once, and buckets of one name in two limiters each', async () => {
  const [one, other] = [limiterOf('Same', 10), limiterOf('Same', 10)];
  const onRequest = new RequestDecision();
  for (const limiter of [one, other, one]) await add(onRequest, limiter, 'Same');
  await onRequest.charge(3, 'Same');
  const remaining = async (limiter: Limiter) => (await limiter.check([{ limit: 'Same', id: 'ann' }])).remaining;
  expect([await remaining(one), await remaining(other)]).toEqual([5, 6]);
  await onRequest.charge(1);
  expect([await remaining(one), await remaining(other)]).toEqual([4, 5]);
});

test('a denial is never hidden by an allowed decision with a longer wait', async () => {
  const limiter = createLimiter({ limits: { Short: { key: accountId(), count: 1, period: '1s' } } });
  const onRequest = new RequestDecision();
  await add(new RequestDecision(), limiter, 'Short');
  await add(onRequest, limiter, 'Short');
  await add(onRequest, limiterOf('Long', 1), 'Long');
  expect(onRequest).toMatchObject({ allowed: false, outcome: 'denied', limit: 'Short' });
});

test('the result of one limit is that of the last decision with it, whichever limit is the strictest', async () => {
  const [perClient, login] = [limiterOf('PerClient', 3), limiterOf('Login', 5)];
  const onRequest = new RequestDecision();
  await add(onRequest, perClient, 'PerClient');
  await add(onRequest, login, 'Login');
  await add(onRequest, login, 'Login');
  expect(onRequest).toMatchObject({ limit: 'PerClient', remaining: 2 });
  expect(onRequest.of('Login')).toMatchObject({ limit: 'Login', burst: 5, remaining: 3 });
  expect(onRequest.of('PerClient')).toMatchObject({ burst: 3, remaining: 2 });
});

test('a limit that did not apply has no result, and a name that no middleware uses is an error', async () => {
  const onRequest = new RequestDecision();
  const decision = await limiterOf('Login', 5).spend([]);
  onRequest.add({ decision, limiter: coreOf(limiterOf('Other', 5)), limits: [{ limit: 'Other' }] });
  expect(onRequest.of('Other')).toBeUndefined();
  expect(() => onRequest.of('Logn')).toThrow("This request meets no limit named 'Logn'. Its limits: Other.");
});
