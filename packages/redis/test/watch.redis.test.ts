import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import type { StoreReport } from '@sluice/core/store';
import { redisStore, type RedisStoreOptions } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisCluster } from '../../../test/redis/servers/redis-cluster.ts';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { running } from '../../../test/redis/servers/running.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { ended, VERSIONS } from './ioredis/support/client.ts';

/** A store, what it reports, and a limiter on it with what that reports. All of them end with the test. */
function watched(options: RedisStoreOptions, deadlineMs = 1000) {
  const store = redisStore({ log: false, ...options });
  const reports: StoreReport[] = [];
  store.watch((report) => reports.push(report));
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: { Logins: { key: accountId(), count: 5, period: '1h', onFailure: 'closed' } },
    store,
    failure: { deadlineMs },
    log: false,
    onEvent: (event) => events.push(event),
  });
  running.add({ close: async () => limiter.close({ store: true }) });
  const is = (state: 'up' | 'failing') =>
    until(`the limiter is ${state}`, () => limiter.status().state === state, { everyMs: 2 });
  const spend = () => limiter.spend([{ limit: 'Logins', id: 'one' }]);
  const types = () => events.map(({ type }) => type);
  const batches = () => store.status().counts.batches;
  return { store, limiter, reports, events, types, is, spend, batches };
}

/** Cuts all connections to a server but the test's own. The server stays up. */
async function cutConnections(server: RedisServer): Promise<void> {
  await server.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

test.each(VERSIONS)('without a request, a limiter knows that Redis was killed, by $version', async (version) => {
  const server = await redisServer();
  const { limiter, events, types, is, batches } = watched({
    client: ended(new version.Redis(server.port, '127.0.0.1')),
  });
  await limiter.ready();
  const before = batches();
  await server.kill();
  await is('failing');
  expect(batches()).toBe(before);
  expect(limiter.status().lastFailure?.cause).toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringMatching(/^Redis at \S+ is not connected: .*ECONNREFUSED/),
  });
  await server.start();
  await is('up');
  expect(types()).toEqual(['store-failing', 'store-recovered']);
  expect(events[0]).toMatchObject({ cause: limiter.status().lastFailure?.cause });
  // The limiter's own trial.
  expect(batches()).toBe(before + 1);
});

test('after a restart Redis decides the first request', async () => {
  const server = await redisServer();
  const { limiter, reports, is, spend } = watched({ url: server.url });
  await limiter.ready();
  await server.kill();
  await is('failing');
  expect(await spend()).toMatchObject({ outcome: 'unavailable' });
  await server.start();
  await until('the store is up', () => reports.at(-1)?.type === 'up', { everyMs: 1 });
  expect(await spend()).toMatchObject({ outcome: 'allowed', failure: undefined });
});

test('a connection that is lost and made again at once is not an outage', async () => {
  const server = await redisServer();
  const { store, limiter, reports, events, spend } = watched({ url: server.url });
  await limiter.ready();
  for (let connects = 2; connects <= 4; connects++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await cutConnections(server);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until('it is connected again', () => store.status().counts.connects === connects, { everyMs: 2 });
  }
  expect(reports.map(({ type }) => type)).toEqual(['up', 'up', 'up', 'up']);
  expect([limiter.status().outages, events]).toEqual([0, []]);
  expect(await spend()).toMatchObject({ outcome: 'allowed' });
});

test('a server that has become a replica is one outage, however often it is connected again', async () => {
  const server = await redisServer();
  const { store, limiter, is, spend, types } = watched({ url: server.url }, 50);
  await limiter.ready();
  await spend();
  await server.call('REPLICAOF', '127.0.0.1', '1');
  // Each probe is a request, and its rejected write makes the connection anew.
  const isTried = async (): Promise<boolean> => {
    await spend();
    return store.status().counts.connects >= 6;
  };
  await until('it was connected five times more', isTried, { everyMs: 5 });
  expect([limiter.status().outages, types()]).toEqual([1, ['store-failing']]);
  await server.call('REPLICAOF', 'NO', 'ONE');
  await until('a request is decided', async () => (await spend()).failure === undefined);
  await is('up');
  expect(types()).toEqual(['store-failing', 'store-recovered']);
});

test('a limiter that starts before Redis knows why it can not decide yet', async () => {
  const server = await redisServer({ absent: true });
  const { limiter, store, events, is } = watched({ url: server.url });
  await is('failing');
  expect(events).toMatchObject([{ type: 'store-failing', message: expect.stringContaining('ECONNREFUSED') }]);
  const limits = { Mails: { key: accountId(), count: 5, period: '1h' } };
  const late = createLimiter({ limits, store, log: false });
  expect(late.status()).toMatchObject({ state: 'failing', outages: 1 });
  await server.start();
  await Promise.all([limiter.ready(), late.ready()]);
  expect([limiter.status().state, late.status().state]).toEqual(['up', 'up']);
  await late.close();
});

test('a server that rejects the store is down, with its reply as the cause', async () => {
  const server = await redisServer({ config: { requirepass: 'secret' } });
  const { limiter, is } = watched({ url: server.url.replace('redis://', 'redis://:wrong@') });
  await is('failing');
  expect(limiter.status().lastFailure?.cause).toMatchObject({ message: expect.stringContaining('WRONGPASS') });
});

test('a server that hangs is down after one missed deadline, when no new connection can be made', async () => {
  const server = await redisServer();
  const { limiter, store, is, spend } = watched({ url: server.url });
  await limiter.ready();
  server.freeze();
  expect(await spend()).toMatchObject({ failure: { cause: { code: 'ERR_STORE_DEADLINE' } } });
  await is('failing');
  expect(store.status().counts.missed).toBe(1);
  expect(limiter.status().lastFailure?.cause).toMatchObject({ message: expect.stringContaining('sent nothing') });
  server.thaw();
  await is('up');
});

test('Sentinels that can not be reached are down', async () => {
  const sentinels = [{ host: '127.0.0.1', port: 1 }];
  const { is, limiter } = watched({ client: ended(new Redis({ sentinels, name: 'limits', lazyConnect: true })) });
  await is('failing');
  expect(limiter.status().lastFailure?.cause).toMatchObject({ message: expect.stringContaining('Sentinels') });
});

test('a cluster is down only when no primary can be reached', async () => {
  const cluster = await redisCluster({ nodeTimeoutMs: 60_000 });
  const client = ended(new Cluster([...cluster.addresses], { lazyConnect: true }));
  const { store, limiter, reports, is, spend, types } = watched({ client });
  await limiter.ready();
  const [first, ...others] = cluster.nodes.slice(0, 3) as [RedisServer, ...RedisServer[]];
  await Promise.all(others.map((node) => node.kill()));
  await until('only one primary is connected', () => {
    const { state, servers } = store.status();
    return state === 'degraded' && servers.filter(({ ready }) => ready).length === 1;
  });
  expect(reports.map(({ type }) => type)).toEqual(['up', 'up', 'up']);
  await first.kill();
  await is('failing');
  await Promise.all([first, ...others].map((node) => node.start()));
  // The nodes answer CLUSTERDOWN for some seconds, so that the limiter's own trial fails.
  const isDecided = async () => (await spend()).failure === undefined;
  await until('the cluster decides', isDecided);
  expect(types()).toEqual(['store-failing', 'store-recovered']);
});

test('a cluster of which no node can be reached is down', async () => {
  const cluster = await redisCluster({ nodeTimeoutMs: 60_000 });
  const client = ended(new Cluster([...cluster.addresses], { lazyConnect: true }));
  const { limiter, is } = watched({ client });
  await limiter.ready();
  await Promise.all(cluster.nodes.map((node) => node.kill()));
  await is('failing');
  expect(limiter.status().outages).toBe(1);
});

test('a closed store can not be watched, and reports nothing more', async () => {
  const server = await redisServer();
  const store = redisStore({ url: server.url, log: false });
  const reports: StoreReport[] = [];
  const end = store.watch((report) => reports.push(report));
  await store.ready();
  await store.close();
  end();
  expect(reports).toEqual([{ type: 'up' }]);
  expect(() => store.watch(() => {})).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
});
