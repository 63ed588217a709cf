import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { leasedStore, redisStore, type RedisStore } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { page as leasedPage } from './leases/support/pages.ts';
import { charge, hold, inFlight, order, owed, refund } from './support/orders.ts';
import { readyStore } from './support/ready-store.ts';
import { callsOf } from '@sluice/core/testing';

const page = readFileSync(new URL('../../../docs/running-on-redis.md', import.meta.url), 'utf8');
const [PERMISSIONS = [], IN_A_CLUSTER = []] = Array.from(
  page.matchAll(/^ACL SETUSER sluice on '>secret' (.+)$/gm),
  ([, list = '']) => list.replaceAll("'", '').split(' '),
);

/** With a database of its own, which must be chosen. */
const urlOf = ({ url }: RedisServer): string => `${url.replace('//', '//limits:secret@')}/2`;

/** All that a store does. */
async function owedAfterUse(store: RedisStore): Promise<number[][]> {
  await callsOf(store).spend([inFlight('7', 'a')]);
  await callsOf(store).renew([hold('7', 'a')]);
  expect(await store.holders([hold('7', 'a')])).toEqual([['a']]);
  await callsOf(store).release([hold('7', 'a')]);
  await callsOf(store).spend([order('7', 2)]);
  await callsOf(store).charge([charge('7', 2)]);
  await callsOf(store).refund([refund('7')]);
  const before = await callsOf(store).check([order('7')]);
  await callsOf(store).reset([{ limit: 'Orders', id: '7' }]);
  return [owed(before), owed(await callsOf(store).check([order('7')]))];
}

/** Writes a slot that has expired, and one as of a server's clock that runs ahead: see decide.lua. */
async function writeOldSlots(server: RedisServer): Promise<void> {
  const write =
    "redis.call('SELECT', 2) return redis.call('ZADD', KEYS[1], 1, 'b:1', ARGV[1], 'c:1', ARGV[1], 'clock')";
  await server.call('EVAL', write, 1, 'sluice:InFlight:7@slots', String(2 ** 52));
}

describe('a user with the permissions that the documentation lists', () => {
  test('can do all that a store does, also when the server has forgotten the script', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...PERMISSIONS);
    await writeOldSlots(server);
    const store = await readyStore({ url: urlOf(server), prefix: 'sluice:' });
    expect(await owedAfterUse(store)).toEqual([[3], [0]]);
    await server.call('SCRIPT', 'FLUSH');
    expect(await owedAfterUse(store)).toEqual([[3], [0]]);
    await store.close();
  });

  test('needs others in a cluster', async () => {
    expect(IN_A_CLUSTER).toEqual(expect.arrayContaining(PERMISSIONS.filter((each) => each !== '+select')));
    const { nodes, addresses } = await sharedCluster();
    await Promise.all(nodes.map((node) => node.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...IN_A_CLUSTER)));
    const redisOptions = { username: 'limits', password: 'secret' };
    const client = new Cluster([...addresses], { lazyConnect: true, redisOptions });
    const store = await readyStore({ client, prefix: 'sluice:' });
    expect(await owedAfterUse(store)).toEqual([[3], [0]]);
    await store.close();
  });

  test('can do all that a store with leases does', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...PERMISSIONS);
    const store = leasedStore({ url: urlOf(server), gateways: 1, maxWait: '1s', log: false });
    await store.ready();
    await callsOf(store).spend([leasedPage('7', 50)]);
    await until('it is synced and counted', () => store.status().leases.gateways === 1);
    await store.close();
    expect(store.status().leases.estimatedOvershoot).toBe(0);
  });

  test('decides rates without the commands of sorted sets, although other numbers are then not found', async () => {
    const server = await redisServer();
    const few = PERMISSIONS.filter((each) => !/^\+(z|pexpire)/.test(each));
    await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...few);
    const store = await readyStore({ url: urlOf(server), prefix: 'sluice:' });
    const events: string[] = [];
    const onEvent = ({ type }: LimiterEvent): void => void events.push(type);
    const limits = { Orders: { key: accountId(), count: 1000, period: '1h' } };
    const limiter = createLimiter({ limits, store, log: false, onEvent });
    const spend = async (): Promise<string> => (await limiter.spend([{ limit: 'Orders', id: '7' }])).outcome;
    const [, ...outcomes] = await Promise.all([limiter.ready(), ...Array.from({ length: 50 }, spend)]);
    expect(new Set(outcomes)).toEqual(new Set(['allowed']));
    expect(events).toEqual([]);
    await limiter.close({ store: true });
  });

  test('can touch nothing else', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...PERMISSIONS);
    const elsewhere = await readyStore({ url: urlOf(server), prefix: 'other:' });
    await expect(callsOf(elsewhere).spend([order('7')])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    await elsewhere.close();
  });

  test.each(PERMISSIONS.filter((permission) => /^\+(?!info)/.test(permission)))(
    'could not do without %s',
    async (permission) => {
      const server = await redisServer();
      await writeOldSlots(server);
      const fewer = PERMISSIONS.filter((other) => other !== permission);
      await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...fewer);
      const store = redisStore({ url: urlOf(server), log: false });
      await server.call('SCRIPT', 'FLUSH');
      await expect(eventually(store)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
      await store.close();
    },
  );
});

/** Waits for the first attempt to connect before it asks. */
async function eventually(store: RedisStore): Promise<unknown> {
  await until('the first attempt has ended', () => store.status().state !== 'connecting');
  return owedAfterUse(store);
}
