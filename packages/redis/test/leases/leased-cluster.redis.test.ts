import { leasedStore, type LeasedStoreEvent } from '@sluice/redis';
import { passes } from '@sluice/core/store';
import { Cluster } from 'ioredis';
import { expect, test } from 'vitest';
import { running } from '../../../../test/redis/servers/running.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { hourly } from './support/pages.ts';
import { callsOf } from '@sluice/core/testing';

test('in a cluster, the buckets of each tag have a stream of their own; one without a tag is decided by Redis', async () => {
  const { addresses } = await sharedCluster();
  const events: LeasedStoreEvent[] = [];
  const store = leasedStore({
    client: new Cluster([...addresses], { lazyConnect: true }),
    prefix: 'leased-cluster:',
    gateways: 2,
    // The first connection to a node may take long.
    maxWait: '1s',
    hashTag: ({ id }) => (id.startsWith('no') ? undefined : id[0]),
    onEvent: (event) => events.push(event),
    log: false,
  });
  running.add({ close: () => store.close() });
  await store.ready();
  // More than half of the burst: such a bucket is not forgotten, however long the test takes.
  const ids = ['a1', 'a2', 'b1', 'c1'];
  const batch = ids.map((id) => hourly(id, 110));
  expect(passes(batch, (await callsOf(store).spend(batch)).levelsTicks)).toBe(true);
  await callsOf(store).spend(ids.map((id) => hourly(id)));
  await until('all are synced', () =>
    store.status().leases.streams.every(({ lastSyncMs }) => lastSyncMs !== undefined),
  );
  expect(store.status().leases.streams.map(({ state, keys }) => [state, keys])).toEqual([
    ['up', 2],
    ['up', 1],
    ['up', 1],
  ]);
  await until('it has counted itself', () => store.status().leases.gateways === 1);
  const untagged = [hourly('no-tag'), hourly('a1')];
  const reading = callsOf(store).spend(untagged);
  expect(reading).toBeInstanceOf(Promise);
  expect(passes(untagged, (await reading).levelsTicks)).toBe(true);
  expect(events.filter(({ type }) => type === 'limit-strict')).toHaveLength(1);
});
