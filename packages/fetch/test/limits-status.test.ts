import { accountId, createLimiter } from '@sluice/core';
import { limitsStatus } from '@sluice/fetch';
import { expect, test } from 'vitest';

const limits = {
  PerUser: { key: accountId((request: Request) => request.headers.get('x-user')), count: 2, period: '1m' },
};
const as = (user: string, init: RequestInit = {}): Request =>
  new Request('http://localhost/', { headers: { 'X-User': user }, ...init });
const statusHandler = (more: object = {}) =>
  limitsStatus({ limiter: createLimiter({ limits, log: false }), limits: ['PerUser'], address: () => null, ...more });

test('a client sees what is left of its limits, and takes nothing', async () => {
  const show = statusHandler();
  await show(as('ann'));
  const response = await show(as('ann'));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ limits: { PerUser: { limit: 2, remaining: 2 } } });
});

test('an error of a key goes to onError', async () => {
  const seen: unknown[] = [];
  const onError = (error: Error): Response => {
    seen.push(error);
    return new Response('wrong', { status: 418 });
  };
  const key = accountId(() => {
    throw new Error('no session');
  });
  const limiter = createLimiter({ limits: { PerUser: { ...limits.PerUser, key } }, log: false });
  const response = await statusHandler({ limiter, onError })(as('ann'));
  expect([response.status, seen]).toEqual([418, [expect.objectContaining({ message: 'no session' })]]);
});
