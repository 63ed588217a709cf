import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { redisStore, type RedisStore, type RedisStoreOptions } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisCluster } from '../../../test/redis/servers/redis-cluster.ts';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { running } from '../../../test/redis/servers/running.ts';
import { sentinelSet } from '../../../test/redis/servers/sentinel-set.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { rejection } from './ioredis/support/client.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();

/** A store that has only just been made, and that ends with the test. */
function freshStore(options: RedisStoreOptions): RedisStore {
  const store = redisStore({ log: false, ...options });
  running.add({ close: () => store.close() });
  return store;
}

/** What an operator's script makes. */
function ordersOn(store: RedisStore): Limiter {
  const limits = { Orders: { key: accountId(), count: 10, period: '1h' } };
  return createLimiter({ limits, store, failure: { deadlineMs: 20_000 }, log: false });
}

describe('a script that waits until its store is ready', () => {
  test('is answered by Redis from its first call on', async () => {
    const before = ordersOn(freshStore({ url: server.url }));
    await before.ready();
    await before.charge([{ limit: 'Orders', id: '7', cost: 10 }]);
    const script = ordersOn(freshStore({ url: server.url }));
    await script.ready();
    expect(await script.check([{ limit: 'Orders', id: '7' }])).toMatchObject({ remaining: 0, failure: undefined });
    await script.reset([{ limit: 'Orders', id: '7' }]);
    expect(await script.check([{ limit: 'Orders', id: '7' }])).toMatchObject({ remaining: 10, failure: undefined });
  });

  test('is answered by Redis also when it had begun before, and the policies had decided', async () => {
    const mortal = await redisServer({ absent: true });
    const limiter = ordersOn(freshStore({ url: mortal.url }));
    await until('the store is left alone', async () => {
      await limiter.spend([{ limit: 'Orders', id: '7' }]);
      return limiter.status().state === 'failing';
    });
    await mortal.start();
    await limiter.ready();
    const resets = Array.from({ length: 5 }, (_, i) => limiter.reset([{ limit: 'Orders', id: `${i}` }]));
    expect(await Promise.all(resets)).toHaveLength(5);
  });

  test('waits for the connection that the store makes anyway, and makes no other', async () => {
    const own = await redisServer();
    const store = freshStore({ url: own.url });
    await Promise.all([store.ready(), store.ready({ timeoutMs: 1000 }), ordersOn(store).ready()]);
    // The other is the test's own.
    expect((await own.call<string>('CLIENT', 'LIST', 'TYPE', 'normal')).trim().split('\n')).toHaveLength(2);
    // The limiter writes its numbers, and reads those of others, and the blocks.
    expect(store.status().counts).toMatchObject({ connects: 1, calls: 3 });
  });

  test('resolves when a server that was absent is up', async () => {
    const late = await redisServer({ absent: true });
    const store = freshStore({ url: late.url });
    const ready = store.ready();
    await until('it was tried', () => store.status().state === 'down');
    await late.start();
    await expect(ready).resolves.toBeUndefined();
    expect(await callsOf(store).check([])).toMatchObject({ levelsTicks: [] });
  });
});

describe('a store that is not ready in time is the error ERR_STORE_UNAVAILABLE', () => {
  test('which names the server, the time, the cause and what to do', async () => {
    const absent = await redisServer({ absent: true });
    const store = freshStore({ url: absent.url });
    const { code, message, tookMs } = await rejection(store.ready({ timeoutMs: 1500 }));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toBe(
      `Redis at 127.0.0.1:${absent.port} was not ready within 1500 ms: Error: connect ECONNREFUSED ` +
        `127.0.0.1:${absent.port}. Check that it runs and that its address is right, or raise \`timeoutMs\`.`,
    );
    expect(tookMs).toBeGreaterThanOrEqual(1499);
    await absent.start();
    await expect(store.ready()).resolves.toBeUndefined();
  });

  test('which has no cause when nothing has failed yet', async () => {
    const store = freshStore({ url: (await redisServer({ absent: true })).url });
    const { message } = await rejection(store.ready({ timeoutMs: 1 }));
    expect(message).toMatch(/^Redis at 127\.0\.0\.1:\d+ was not ready within 1 ms[.:] /);
  });

  test('which a limiter hands on', async () => {
    const absent = await redisServer({ absent: true });
    const { code, message } = await rejection(ordersOn(freshStore({ url: absent.url })).ready({ timeoutMs: 1500 }));
    expect([code, message]).toEqual(['ERR_STORE_UNAVAILABLE', expect.stringContaining('connect ECONNREFUSED')]);
  });

  test('with the demand of a server that answers', async () => {
    const secret = await redisServer({ config: { requirepass: 'secret' } });
    const { message } = await rejection(freshStore({ url: secret.url }).ready({ timeoutMs: 1500 }));
    expect(message).toContain('NOAUTH');
    expect(message).toContain('It requires a password. Put it into the client or the URL.');
  });
});

describe('a store that is closed', () => {
  test('meanwhile ends the wait with ERR_CLOSED', async () => {
    const store = redisStore({ url: (await redisServer({ absent: true })).url, log: false });
    const limiter = ordersOn(store);
    const waits = [rejection(store.ready()), rejection(limiter.ready())];
    await store.close();
    expect((await Promise.all(waits)).map(({ code }) => code)).toEqual(['ERR_CLOSED', 'ERR_CLOSED']);
  });

  test('before is ERR_CLOSED', async () => {
    const store = redisStore({ url: server.url, log: false });
    await store.close();
    expect(await rejection(store.ready())).toMatchObject({ code: 'ERR_CLOSED' });
  });
});

test('options that `ready` does not have are wrong use', async () => {
  const store = freshStore({ url: server.url });
  expect(await rejection(store.ready({ timeoutMs: -1 }))).toMatchObject({ code: 'ERR_OPTION' });
});

test('behind Sentinels a store is ready when the primary is connected', async () => {
  const { addresses, name } = await sentinelSet();
  const store = freshStore({ client: new Redis({ sentinels: [...addresses], name, lazyConnect: true }) });
  await store.ready();
  expect(await callsOf(store).check([])).toMatchObject({ levelsTicks: [] });
});

test('on a cluster a store is ready when every primary is connected, and the error names those that are not', async () => {
  const cluster = await redisCluster({ nodeTimeoutMs: 60_000 });
  const client = () => new Cluster([...cluster.addresses], { lazyConnect: true });
  const store = freshStore({ client: client() });
  await store.ready();
  expect(store.status().servers.map(({ ready }) => ready)).toEqual([true, true, true]);
  const lost = cluster.nodes[1];
  lost?.freeze();
  const { code, message } = await rejection(freshStore({ client: client() }).ready({ timeoutMs: 1500 }));
  expect(code).toBe('ERR_STORE_UNAVAILABLE');
  expect(message).toMatch(new RegExp(`^Redis at 127\\.0\\.0\\.1:${lost?.port} was not ready within 1500 ms: `));
  lost?.thaw();
});

test('on a cluster without a reachable node, the error reports that', async () => {
  const { port } = await redisServer({ absent: true });
  const store = freshStore({ client: new Cluster([{ host: '127.0.0.1', port }], { lazyConnect: true }) });
  const { message } = await rejection(store.ready({ timeoutMs: 1500 }));
  expect(message).toMatch(/^Redis at the nodes of the cluster was not ready within 1500 ms: /);
});
