import { accountId, createLimiter } from '@sluice/core';
import { redisStore, type RedisStoreOptions } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { expect, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';

test.each([
  ['a server', async (): Promise<RedisStoreOptions> => ({ url: (await redisServer()).url })],
  [
    'a cluster',
    async (): Promise<RedisStoreOptions> => {
      const { addresses } = await sharedCluster();
      return { client: new Cluster([...addresses], { lazyConnect: true }) };
    },
  ],
])('a loop of awaited calls that begins before %s is connected does not prevent it', async (_where, options) => {
  const store = redisStore(await options());
  const limits = { Orders: { key: accountId(), count: 5, period: '1h' } };
  // So long a deadline puts off the tries of an outage, by which the event loop would run too.
  const limiter = createLimiter({ limits, store, failure: { deadlineMs: 60_000 }, log: false });
  const endMs = performance.now() + 60_000;
  while (store.status().state !== 'up') {
    expect(performance.now()).toBeLessThan(endMs);
    // oxlint-disable-next-line no-await-in-loop -- this is what is tested
    await limiter.spend([{ limit: 'Orders', id: '7' }]);
  }
  await limiter.close();
  await store.close();
});
