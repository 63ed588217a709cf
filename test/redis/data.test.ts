// Outcomes for buckets when the server loses its scripts, its data, or its process.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { expect, it } from 'vitest';
import { redisServer, type RedisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';
import { Traffic } from './traffic.ts';

const LIMIT = { burst: 20, count: 1, period: '1h' };
const ORDERS = [{ limit: 'Orders', id: 'one' }] as const;

/** A limiter that asks the server for every decision and waits for it, so that only the store counts. */
async function limiterOn(server: RedisServer, deadlineMs = 10_000) {
  const store = redisStore({ url: server.url, rememberDenialsMs: 0, log: false });
  running.add({ close: () => store.close() });
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), ...LIMIT } },
    store,
    failure: { deadlineMs, onFailure: 'closed' },
    log: () => {},
  });
  await until('it is connected', () => store.status().state === 'up');
  return { limiter, store };
}

it('SCRIPT FLUSH under load has no effect: every decision is the store’s, and no request too many passes', async () => {
  const server = await redisServer();
  const { limiter, store } = await limiterOn(server);
  const traffic = new Traffic(limiter, 2, () => ORDERS);
  for (let flushes = 0; flushes < 10; flushes++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, with decisions between them
    await server.call('SCRIPT', 'FLUSH');
    const asked = traffic.decidedByStore.length;
    // oxlint-disable-next-line no-await-in-loop
    await until('some more were decided', () => traffic.decidedByStore.length > asked + 5);
  }
  await traffic.stop();
  expect(traffic.errors).toEqual([]);
  expect(traffic.decidedByStore).toHaveLength(traffic.asks.length);
  expect(traffic.admitted().get('one')).toBe(LIMIT.burst);
  expect(store.status().counts.reloads).toBeGreaterThanOrEqual(5);
});

it('FLUSHALL gives each client one burst more, and nothing else', async () => {
  const server = await redisServer();
  const { limiter } = await limiterOn(server);
  const traffic = new Traffic(limiter, 2, () => ORDERS);
  await until('the burst is spent', () => traffic.decidedByStore.some(({ decision }) => !decision!.allowed));
  await server.call('FLUSHALL');
  const asked = traffic.decidedByStore.length;
  await until('the second is', () => traffic.decidedByStore.length > asked + LIMIT.burst + 10);
  await traffic.stop();
  expect(traffic.errors).toEqual([]);
  expect(traffic.decidedByStore).toHaveLength(traffic.asks.length);
  expect(traffic.admitted().get('one')).toBe(2 * LIMIT.burst);
});

it.each([
  { data: 'kept', bursts: 1 },
  { data: 'lost', bursts: 2 },
])(
  'a restart with its data $data lets $bursts burst(s) through, without a restart of our process',
  async ({ data, bursts }) => {
    const server = await redisServer();
    const { limiter } = await limiterOn(server, 200);
    const traffic = new Traffic(limiter, 2, () => ORDERS);
    await until('the burst is spent', () => traffic.decidedByStore.some(({ decision }) => !decision!.allowed));
    if (data === 'kept') await server.call('SAVE');
    await server.kill();
    await until('the outage is noticed', () => limiter.status().state === 'failing');
    await server.start();
    await until('it is over', () => limiter.status().state === 'up');
    const asked = traffic.decidedByStore.length;
    await until('many more were decided', () => traffic.decidedByStore.length > asked + LIMIT.burst + 10);
    await traffic.stop();
    expect(traffic.errors).toEqual([]);
    expect(traffic.admitted().get('one')).toBe(bursts * LIMIT.burst);
  },
);
