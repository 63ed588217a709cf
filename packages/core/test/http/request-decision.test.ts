import { accountId, createLimiter, type Decision, type Limiter, type Store } from '@sluice/core';
import { RequestDecision } from '@sluice/core/http';
import { expect, test } from 'vitest';
import { coreOf } from '../../src/create-limiter.ts';

const brokenStore = (): Store => {
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  return { spend: refuse, check: refuse, charge: refuse, refund: refuse, reset: refuse, close: () => undefined };
};

function limiterOf(name: string, count: number, store?: Store): Limiter {
  return createLimiter({ limits: { [name]: { key: accountId(), count, period: '1m' } }, store, log: false });
}

async function add(onRequest: RequestDecision, limiter: Limiter, limit: string): Promise<Decision> {
  const decision = await limiter.spend([{ limit, id: 'ann' }]);
  onRequest.add(decision, coreOf(limiter), [{ limit }]);
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

test('a denial is never hidden by an allowed decision with a longer wait', async () => {
  const limiter = createLimiter({ limits: { Short: { key: accountId(), count: 1, period: '1s' } } });
  const onRequest = new RequestDecision();
  await add(new RequestDecision(), limiter, 'Short');
  await add(onRequest, limiter, 'Short');
  await add(onRequest, limiterOf('Long', 1), 'Long');
  expect(onRequest).toMatchObject({ allowed: false, outcome: 'denied', limit: 'Short' });
});
