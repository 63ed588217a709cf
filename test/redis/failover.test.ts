// Sentinel and Cluster: what is promised while a primary is replaced, or a slot moves, in the middle of load.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore, type RedisClient } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { readFileSync } from 'node:fs';
import { createCluster, createSentinel } from 'redis';
import { describe, expect, it } from 'vitest';
import { connected, opened, type ApplicationClient } from './faults/clients.ts';
import { redisCluster, type RedisCluster } from './servers/redis-cluster.ts';
import type { RedisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { sentinelSet, type SentinelSet } from './servers/sentinel-set.ts';
import { until } from './servers/until.ts';
import { Traffic } from './traffic.ts';

const LIMIT = { burst: 20, count: 20, periodMs: 1000 };

async function limiterOn(
  client: RedisClient,
  { count = LIMIT.count, periodMs = LIMIT.periodMs, deadlineMs = 50 } = {},
) {
  const store = redisStore({ client, rememberDenialsMs: 0, log: false });
  running.add({ close: () => store.close() });
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), burst: LIMIT.burst, count, period: periodMs } },
    store,
    failure: { deadlineMs },
    log: () => {},
  });
  await until('the store decides', async () => {
    const { failure } = await limiter.check([{ limit: 'Orders', id: 'nobody' }]);
    return failure === undefined;
  });
  return limiter;
}

/** What is let through at most. What the old primary had not yet told its replica is spent once more. */
function bounds(traffic: Traffic): { byStore: number; inAll: number } {
  const spanMs = Math.max(...traffic.asks.map(({ answeredMs = 0 }) => answeredMs)) - traffic.asks[0]!.sentMs;
  const back = (LIMIT.count * spanMs) / LIMIT.periodMs;
  return { byStore: 2 * LIMIT.burst + back, inAll: 3 * LIMIT.burst + 2 * back };
}

function most(counts: Map<string, number>): number {
  return Math.max(...counts.values());
}

/** Kills a primary, and measures until the store decides again for the ids that it held. */
async function killed(primary: RedisServer, traffic: Traffic, ids: ReadonlySet<string>): Promise<number> {
  const killedMs = performance.now();
  await primary.kill();
  const isDown = traffic.asks.length;
  const after = () =>
    traffic.asks.slice(isDown).find((ask) => ids.has(ask.id) && ask.decision?.failure === undefined && ask.decision);
  await until('the store decides again', () => after() !== undefined);
  return after()!.answeredMs! - killedMs;
}

/** What a user of a cluster logs in with. */
interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** Returns the client of an application, which is closed when the test ends. */
function closedAtEnd(application: ApplicationClient): RedisClient {
  running.add({ close: async () => application.close() });
  return application.client;
}

describe.each<{ name: string; clientOf: (set: SentinelSet) => RedisClient }>([
  {
    name: 'ioredis 6',
    clientOf: ({ addresses, name }) => closedAtEnd(opened(new Redis({ sentinels: [...addresses], name }))),
  },
  {
    name: 'ioredis 5',
    clientOf: ({ addresses, name }) => closedAtEnd(opened(new Redis5({ sentinels: [...addresses], name }))),
  },
  {
    name: 'node-redis 6',
    clientOf: ({ addresses, name }) =>
      closedAtEnd(connected(createSentinel({ sentinelRootNodes: [...addresses], name }))),
  },
])('with $name', ({ clientOf }) => {
  it('Sentinel replaces a primary in the middle of load: nothing beyond the bound, no error, no restart', async ({
    annotate,
  }) => {
    const set = await sentinelSet();
    const traffic = new Traffic(await limiterOn(clientOf(set)), 5, () => [{ limit: 'Orders', id: 'one' }]);
    await until('the store decides under load', () => traffic.decidedByStore.length > 50);
    const recoveryMs = await killed(await set.primary(), traffic, new Set(['one']));
    await annotate(`decided by the store again after ${recoveryMs.toFixed(0)} ms`);
    await traffic.stop();
    expect(traffic.errors).toEqual([]);
    expect(most(traffic.admitted(traffic.decidedByStore))).toBeLessThanOrEqual(bounds(traffic).byStore);
    expect(most(traffic.admitted())).toBeLessThanOrEqual(bounds(traffic).inAll);
  });
});

const rootNodes = ({ addresses }: RedisCluster) => addresses.map((socket) => ({ socket }));

describe.each<{ name: string; clientOf: (cluster: RedisCluster, login?: Login) => RedisClient }>([
  {
    name: 'ioredis 6',
    clientOf: ({ addresses }, redisOptions = {}) => closedAtEnd(opened(new Cluster([...addresses], { redisOptions }))),
  },
  {
    name: 'ioredis 5',
    clientOf: ({ addresses }, redisOptions = {}) => closedAtEnd(opened(new Cluster5([...addresses], { redisOptions }))),
  },
  {
    name: 'node-redis 6',
    clientOf: (cluster, defaults = {}) =>
      closedAtEnd(connected(createCluster({ rootNodes: rootNodes(cluster), defaults }))),
  },
])('on a cluster with $name', ({ clientOf }) => {
  it('after the death of a primary under load the bound is kept, and the store recovers', async ({ annotate }) => {
    const cluster = await redisCluster();
    const ids = Array.from({ length: 12 }, (_, index) => `id-${index}`);
    let asked = 0;
    const traffic = new Traffic(await limiterOn(clientOf(cluster)), 4, () => [
      { limit: 'Orders', id: ids[asked++ % ids.length]! },
    ]);
    await until('the store decides under load', () => traffic.decidedByStore.length > 100);
    const primary = await cluster.primaryOf(await slotOf(cluster, ids[0]!));
    const hit = new Set<string>();
    // oxlint-disable-next-line no-await-in-loop
    for (const id of ids) if ((await cluster.primaryOf(await slotOf(cluster, id))) === primary) hit.add(id);
    const before = traffic.asks.length;
    const recoveryMs = await killed(primary, traffic, hit);
    const meanwhile = traffic.asks.slice(before).filter(({ id, decision }) => !hit.has(id) && decision !== undefined);
    const spared = meanwhile.filter(({ decision }) => decision!.failure === undefined);
    await annotate(
      `decided by the store again after ${recoveryMs.toFixed(0)} ms; ` +
        `of the other primaries' ids ${spared.length} of ${meanwhile.length} were decided by the store meanwhile`,
    );
    const asks = traffic.asks.length;
    await until('many more were asked', () => traffic.asks.length > asks + 100);
    await traffic.stop();
    expect(traffic.errors).toEqual([]);
    expect(most(traffic.admitted(traffic.decidedByStore))).toBeLessThanOrEqual(bounds(traffic).byStore);
    expect(most(traffic.admitted())).toBeLessThanOrEqual(bounds(traffic).inAll);
  });

  it('a slot that moves under load has no effect: every decision is the store’s, and no request too many passes', async () => {
    const cluster = await redisCluster();
    await Promise.all(cluster.nodes.map((node) => node.call('ACL', 'SETUSER', ...documentedUser())));
    const client = clientOf(cluster, { username: 'sluice', password: 'secret' });
    const limiter = await limiterOn(client, { count: 1, periodMs: 3_600_000, deadlineMs: 10_000 });
    const traffic = new Traffic(limiter, 3, () => [{ limit: 'Orders', id: 'one' }]);
    await until('some were decided', () => traffic.decidedByStore.length > 10);
    const slot = await slotOf(cluster, 'one');
    const from = await cluster.primaryOf(slot);
    const to = cluster.nodes.slice(0, 3).find((node) => node !== from)!;
    await moveSlot(cluster, { slot, from, to }, async () => {
      const asked = traffic.decidedByStore.length;
      await until('some were decided meanwhile', () => traffic.decidedByStore.length > asked + 20);
    });
    const asked = traffic.decidedByStore.length;
    await until('some were decided at the new place', () => traffic.decidedByStore.length > asked + 20);
    await traffic.stop();
    expect(traffic.errors).toEqual([]);
    expect(traffic.decidedByStore).toHaveLength(traffic.asks.length);
    expect(traffic.admitted().get('one')).toBe(LIMIT.burst);
    expect(await to.call('EXISTS', 'sluice:Orders:one')).toBe(1);
  });
});

/** Who may do in a cluster what the store does, as the documentation has it. */
function documentedUser(): string[] {
  const page = readFileSync(new URL('../../docs/running-on-redis.md', import.meta.url), 'utf8');
  const [, user = ''] = /^ACL SETUSER (sluice .*\+cluster.*)$/m.exec(page) ?? [];
  return user.replaceAll("'", '').split(' ');
}

function slotOf(cluster: RedisCluster, id: string): Promise<number> {
  return cluster.slotOf(`sluice:Orders:${id}`);
}

/** As `redis-cli --cluster reshard` does it; `midway` runs before the keys move and after. */
async function moveSlot(
  cluster: RedisCluster,
  { slot, from, to }: { slot: number; from: RedisServer; to: RedisServer },
  midway: () => Promise<void>,
): Promise<void> {
  const [fromId, toId] = await Promise.all([cluster.idOf(from), cluster.idOf(to)]);
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  await midway();
  const keys = await from.call<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100);
  await from.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
  await midway();
  await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
}
