import { accountId, createLimiter, type Decision } from '@sluice/core';
import { leasedStore } from '@sluice/redis';
import type { StoreTransaction } from '@sluice/core/store';
import { callsOf } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { realDelay } from '../../../../test/real-delay.ts';
import { page } from './support/pages.ts';

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

describe('a batch of two leased limits that Redis was asked about, and has not answered', async () => {
  const server = await redisServer();
  const pageOf = (limit: string, onFailure: 'local' | 'closed') => ({ ...page('7', 150, { onFailure }), limit });

  async function askedInVain(batch: readonly StoreTransaction[]) {
    const proxy = await tcpProxy(server);
    const store = leasedStore({ url: proxy.url, gateways: 2, log: false });
    running.add({ close: () => store.close() });
    await store.ready();
    proxy.blackhole();
    // Too much for leases, so that Redis is asked.
    return callsOf(store).spend(batch, 100);
  }

  test('is decided by what the process knows if both have the policy local', async () => {
    const { passed } = await askedInVain([pageOf('Pages', 'local'), pageOf('Calls', 'local')]);
    expect(passed).toBe(-1);
  });

  test.each([
    ['local', 'closed'],
    ['closed', 'local'],
  ] as const)('is left to the limiter if one is %s and the other %s', async (one, other) => {
    await expect(askedInVain([pageOf('Pages', one), pageOf('Calls', other)])).rejects.toMatchObject({
      code: 'ERR_STORE_DEADLINE',
    });
  });
});
