import { accountId, createLimiter, type Decision } from '@sluice/core';
import { leasedStore } from '@sluice/redis';
import { expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { realDelay } from '../../../../test/real-delay.ts';

const key = accountId();
const ROUNDS = 100;

test.each([
  ['open', true],
  ['closed', false],
] as const)('while Redis hangs, requests that wait in vain follow the policy %s', async (onFailure, passes) => {
  const server = await redisServer();
  const limits = { Pages: { key, burst: 2000, count: 1000, period: '1s', overshoot: 0.1, onFailure } } as const;
  const store = leasedStore({ url: server.url, gateways: 20, log: false });
  const limiter = createLimiter({ limits, store, log: false });
  running.add({
    close: async () => {
      await limiter.close({ store: true });
    },
  });
  await limiter.ready();
  const spend = async (): Promise<Decision> => limiter.spend([{ limit: 'Pages', id: '7' }]);
  for (let i = 0; i < 20; i++) await spend();
  server.freeze();
  const pending: Promise<Decision>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < 5; i++) pending.push(spend());
    await realDelay(5);
  }
  const decisions = await Promise.all(pending);
  server.thaw();
  const byPolicy = decisions.filter(({ failure }) => failure !== undefined);
  expect(byPolicy.length).toBeGreaterThan(50);
  expect(new Set(byPolicy.map(({ allowed }) => allowed))).toEqual(new Set([passes]));
  // All others had a lease or the overdraft.
  expect(decisions.filter(({ allowed, failure }) => !allowed && failure === undefined)).toEqual([]);
});
