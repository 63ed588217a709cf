import { accountId, createLimiter, type Store } from '@sluice/core';
import { leasedStore } from '@sluice/redis';
import { mock } from 'node:test';
import { createClient } from 'redis';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { readyStore } from './support/ready-store.ts';

const server = await redisServer();

/** All that Vitest fakes in a child process, in which `process.nextTick` stays real. */
const EVERYTHING = [
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'clearImmediate'] as const),
  ...(['Date', 'performance', 'hrtime', 'queueMicrotask'] as const),
];

const FAKES = [
  ['the fake timers of Vitest', () => vi.useFakeTimers()],
  ['all that Vitest fakes', () => vi.useFakeTimers({ toFake: [...EVERYTHING] })],
  ['the mock timers of node:test', () => mock.timers.enable()],
] as const;

afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

async function outcomeOf(store: Store, deadlineMs = 1000): Promise<string> {
  const limits = { Mails: { key: accountId(), count: 1, period: '1m', onFailure: 'closed' } } as const;
  const limiter = createLimiter({ limits, store, log: false, failure: { deadlineMs } });
  return (await limiter.spend([{ limit: 'Mails', id: '12345678' }])).outcome;
}

test.each(FAKES)('a store that opens under %s decides', async (_name, fake) => {
  fake();
  const store = await readyStore({ url: server.url });
  expect([await outcomeOf(store), await outcomeOf(store)]).toEqual(['allowed', 'denied']);
});

test.each(FAKES)('a store with leases that opens under %s decides', async (_name, fake) => {
  fake();
  const store = leasedStore({ url: server.url, prefix: 'leased:', gateways: 2 });
  await store.ready();
  expect(await outcomeOf(store)).toMatch(/^(allowed|denied)$/);
});

test.each(FAKES)('a decision that Redis does not answer meets its deadline under %s', async (_name, fake) => {
  const proxy = await tcpProxy(server);
  const store = await readyStore({ url: proxy.url, log: false });
  proxy.stall();
  fake();
  expect(await outcomeOf(store, 20)).toBe('unavailable');
});

describe('node-redis writes by the global setImmediate:', () => {
  const open = () => readyStore({ client: createClient({ url: server.url }), log: false });

  test('where a test fakes it, a decision meets its deadline', async () => {
    const store = await open();
    vi.useFakeTimers();
    expect(await outcomeOf(store, 20)).toBe('unavailable');
  });

  test('where a test fakes all but that, Redis decides', async () => {
    vi.useFakeTimers({ toFake: EVERYTHING.filter((name) => name !== 'setImmediate') });
    expect(await outcomeOf(await open())).toBe('allowed');
  });
});
