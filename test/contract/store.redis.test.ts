import type { RedisStoreOptions } from '@sluice/redis';
import { storeContract } from '@sluice/core/testing';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { describe, expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { sharedCluster } from '../redis/servers/shared-cluster.ts';

/** The whole contract, each case with buckets of its own on one server. */
function keepsTheContract(options: () => RedisStoreOptions): void {
  const cases = storeContract({
    clock: 'real',
    create: async () => ({
      store: await readyStore(options()),
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    }),
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
}

describe('on one server', async () => {
  const { port, url } = await redisServer();

  describe('the Redis store keeps the contract of stores by a URL', () => {
    keepsTheContract(() => ({ url }));
  });

  describe('it keeps it beside a client of ioredis 6', () => {
    keepsTheContract(() => ({ client: new Redis(port, { lazyConnect: true }) }));
  });

  describe('it keeps it beside a client of ioredis 5', () => {
    keepsTheContract(() => ({ client: new Redis5(port, { lazyConnect: true }) }));
  });
});

describe('on a cluster', async () => {
  const { addresses } = await sharedCluster();

  describe('the Redis store keeps the contract of stores beside a cluster client of ioredis 6', () => {
    keepsTheContract(() => ({ client: new Cluster([...addresses], { lazyConnect: true }) }));
  });

  describe('it keeps it beside a cluster client of ioredis 5', () => {
    keepsTheContract(() => ({ client: new Cluster5([...addresses], { lazyConnect: true }) }));
  });

  describe('it keeps it with all buckets of an id in one slot', () => {
    keepsTheContract(() => ({ client: new Cluster([...addresses], { lazyConnect: true }), hashTag: 'id' }));
  });
});
