import type { RedisStore, RedisStoreOptions } from '@sluice/redis';
import { storeContract, type ContractCase } from '@sluice/core/testing';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey';
import { createClient, createCluster, createSentinel } from 'redis';
import { describe, expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisCluster } from '../redis/servers/redis-cluster.ts';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { sentinelSet } from '../redis/servers/sentinel-set.ts';
import { until } from '../redis/servers/until.ts';
import { realDelay } from '../real-delay.ts';

/**
 * The whole contract, each case with buckets of its own on one server. What a store decides depends on its scripts, not on
 * the client, so with `part` only a tenth of the cases are tried, beside those that cut connections and stop servers;
 * `npm run test:all` tries all of them with each client.
 */
function keepsTheContract(
  nodes: readonly RedisServer[],
  options: () => RedisStoreOptions,
  { part = false }: { readonly part?: boolean } = {},
): void {
  const tried = (of: ContractCase, number: number): boolean => !part || TRIES_ALL || of.alone || number % 10 === 0;
  const cases = storeContract({
    clock: 'real',
    async create() {
      const store = await readyStore(options());
      return {
        store,
        advance: realDelay,
        hang: (run) => whileFrozen(nodes, run),
        provokeReport: () => reconnect(store, nodes),
      };
    },
  }).filter(tried);
  // Most of their time is waiting for the clock of the server.
  test.concurrent.each(cases.filter(({ alone }) => !alone))('$name', keepsPromise);
  test.each(cases.filter(({ alone }) => alone))('$name', keepsPromise);
}

const TRIES_ALL = process.env['SLUICE_ALL_CLIENTS'] === 'yes';
const PART = { part: true };

async function keepsPromise({ run }: ContractCase): Promise<void> {
  await expect(run()).resolves.toBeUndefined();
}

/** Cuts the connections of a store, and waits until it has made them again. */
async function reconnect(store: RedisStore, nodes: readonly RedisServer[]): Promise<void> {
  const { servers, counts } = store.status();
  const connects = counts.connects + servers.length;
  await Promise.all(nodes.map((node) => node.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')));
  await until('it is connected again', () => store.status().counts.connects >= connects);
}

async function whileFrozen(nodes: readonly RedisServer[], run: () => Promise<void>): Promise<void> {
  for (const node of nodes) node.freeze();
  try {
    await run();
  } finally {
    for (const node of nodes) node.thaw();
  }
}

describe('on one server', async () => {
  const server = await redisServer();
  const { port, url } = server;

  describe('the Redis store keeps the contract of stores by a URL', () => {
    keepsTheContract([server], () => ({ url }));
  });

  describe('beside a client of ioredis 6', () => {
    keepsTheContract([server], () => ({ client: new Redis(port, { lazyConnect: true }) }), PART);
  });

  describe('beside a client of ioredis 5', () => {
    keepsTheContract([server], () => ({ client: new Redis5(port, { lazyConnect: true }) }), PART);
  });

  describe('beside a client of iovalkey', () => {
    keepsTheContract([server], () => ({ client: new Valkey(port, { lazyConnect: true }) }), PART);
  });

  describe('beside a client of node-redis 6', () => {
    keepsTheContract([server], () => ({ client: createClient({ url }) }), PART);
  });
});

describe('behind Sentinels', async () => {
  // A case that stops the primary must not cause a failover.
  const { addresses, name, servers } = await sentinelSet({ downAfterMs: 60_000 });

  describe('the Redis store keeps the contract of stores beside a client of ioredis 6', () => {
    keepsTheContract(
      servers,
      () => ({ client: new Redis({ sentinels: [...addresses], name, lazyConnect: true }) }),
      PART,
    );
  });

  describe('beside a client of node-redis 6', () => {
    keepsTheContract(servers, () => ({ client: createSentinel({ sentinelRootNodes: [...addresses], name }) }), PART);
  });
});

describe('on a cluster', async () => {
  // No failover when the machine stalls.
  const { addresses, nodes } = await redisCluster({ nodeTimeoutMs: 60_000 });
  const rootNodes = addresses.map((socket) => ({ socket }));

  describe('the Redis store keeps the contract of stores beside a cluster client of ioredis 6', () => {
    keepsTheContract(nodes, () => ({ client: new Cluster([...addresses], { lazyConnect: true }) }), PART);
  });

  describe('beside a cluster client of ioredis 5', () => {
    keepsTheContract(nodes, () => ({ client: new Cluster5([...addresses], { lazyConnect: true }) }), PART);
  });

  describe('beside a cluster client of iovalkey', () => {
    keepsTheContract(nodes, () => ({ client: new ValkeyCluster([...addresses], { lazyConnect: true }) }), PART);
  });

  describe('beside a cluster client of node-redis 6', () => {
    keepsTheContract(nodes, () => ({ client: createCluster({ rootNodes }) }), PART);
  });

  describe('with all buckets of an id in one slot', () => {
    keepsTheContract(nodes, () => ({ client: new Cluster([...addresses], { lazyConnect: true }), hashTag: 'id' }));
  });
});
