import { accountId, createLimiter, type Decision, type Limiter, type LimiterEvent } from '@sluice/core';
import { leasedStore, type LeasedStore, type LeasedStoreEvent } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { expect, test } from 'vitest';
import { realDelay } from '../../../../test/real-delay.ts';
import { moveSlot } from '../../../../test/redis/servers/moved-slot.ts';
import { redisCluster, type RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { running } from '../../../../test/redis/servers/running.ts';

const key = accountId();
const IDS = ['m1', 'm2', 'm3', 'm4'];
const HEALTHY = 'c1';

interface Scene {
  readonly cluster: RedisCluster;
  readonly store: LeasedStore;
  readonly limiter: Limiter;
  readonly events: readonly (LimiterEvent | LeasedStoreEvent)[];
  /** How many requests of each id passed at the leased limit. */
  readonly passed: ReadonlyMap<string, number>;
  /** Why policies decided requests of both limits. */
  readonly failed: { readonly leased: unknown[]; readonly exact: unknown[] };
  /** Sends requests of all ids, and now and then one at an exact limit, whose slot is on another primary. */
  readonly rounds: (count: number) => Promise<void>;
}

/** @param maxWait - How long a request may wait for a sync. For Redis it waits as long as a busy machine needs. */
async function scene(maxWait: '50ms' | '1s'): Promise<Scene> {
  // No failover when the machine stalls.
  const cluster = await redisCluster({ nodeTimeoutMs: 60_000 });
  const events: (LimiterEvent | LeasedStoreEvent)[] = [];
  const store = leasedStore({
    client: new Cluster([...cluster.addresses], { lazyConnect: true }),
    gateways: 1,
    hashTag: ({ id }) => id[0],
    maxWait,
    onEvent: (event) => events.push(event),
    log: false,
  });
  const limits = {
    Leased: { key, burst: 200, count: 200, period: '24h', overshoot: 0.1, onFailure: 'closed' },
    Exact: { key, burst: 10_000, count: 10_000, period: '24h', onFailure: 'closed' },
  } as const;
  const limiter = createLimiter({
    limits,
    store,
    log: false,
    failure: { deadlineMs: 20_000 },
    onEvent: (event) => events.push(event),
  });
  running.add({
    close: async () => {
      await limiter.close({ store: true });
    },
  });
  await limiter.ready();
  const passed = new Map(IDS.map((id) => [id, 0]));
  const failed: Scene['failed'] = { leased: [], exact: [] };
  const spend = async (limit: 'Leased' | 'Exact', id: string): Promise<Decision> => {
    const decision = await limiter.spend([{ limit, id }]);
    const { failure } = decision;
    if (failure !== undefined) failed[limit === 'Leased' ? 'leased' : 'exact'].push(failure.cause);
    return decision;
  };
  const leased = async (id: string): Promise<void> => {
    const { allowed } = await spend('Leased', id);
    if (allowed) passed.set(id, passed.get(id)! + 1);
  };
  const rounds = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await Promise.all(IDS.map(leased));
      if (i % 5 === 0) await spend('Exact', HEALTHY);
      await realDelay(5);
    }
  };
  return { cluster, store, limiter, events, passed, failed, rounds };
}

test('while a slot moves, each bucket of it is decided by Redis alone, and other limits are not affected', async () => {
  const { cluster, store, limiter, events, passed, failed, rounds } = await scene('1s');
  await rounds(20);
  const slot = await cluster.slotOf('{m}');
  const from = await cluster.primaryOf(slot);
  await moveSlot(cluster, slot, async (moveKeys) => {
    await rounds(20);
    const keys = await from.call<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100);
    expect(keys.length).toBeGreaterThan(IDS.length);
    // No sync is accepted while the key of the stream is on the one node and a bucket on the other.
    const stream = keys.filter((each) => each.includes(':seq:'));
    await moveKeys(...stream);
    await rounds(80);
    expect(store.status().leases.streams.map(({ state }) => state)).toEqual(['moving']);
    // A decision of Redis is refunded in Redis.
    const entry = { limit: 'Leased', id: 'm1' };
    const decision = await limiter.spend([entry]);
    const { remaining } = await limiter.check([entry]);
    await limiter.refund(decision);
    expect((await limiter.check([entry])).remaining).toBe(remaining + 1);
    for (const each of keys) {
      if (stream.includes(each)) continue;
      await moveKeys(each);
      await rounds(15);
    }
  });
  expect(failed).toEqual({ leased: [], exact: [] });
  expect(events.filter(({ type }) => type === 'sync-failing' || type === 'store-failing')).toEqual([]);
  // Then it leases again, and has charged what it let through before: the bound holds, and the burst can be used, but for
  // a lease that the rejected sync was to give back.
  await rounds(100);
  const { lease } = limiter.describe('Leased');
  const bound = lease?.leased === true ? lease.bound : NaN;
  for (const count of passed.values()) {
    expect(count).toBeGreaterThanOrEqual(150);
    expect(count).toBeLessThanOrEqual(200 + bound);
  }
});

test('a primary that does not answer syncs is no outage for limits on other primaries', async () => {
  const { cluster, failed, rounds } = await scene('50ms');
  const hung = await cluster.primaryOf(await cluster.slotOf('{m}'));
  expect(await cluster.primaryOf(await cluster.slotOf(`{${HEALTHY[0]}}`))).not.toBe(hung);
  await rounds(5);
  hung.freeze();
  await rounds(100);
  hung.thaw();
  expect(failed.leased.length).toBeGreaterThan(100);
  expect(failed.exact).toEqual([]);
});
