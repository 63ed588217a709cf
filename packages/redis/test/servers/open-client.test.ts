import { createCluster, createSentinel } from 'redis';
import { createCluster as createCluster5, createSentinel as createSentinel5 } from 'redis5';
import { describe, expect, test } from 'vitest';
import { openClient, type RedisClient } from '../../src/open-client.ts';
import { testScript } from '../ioredis/support/scripts.ts';

const NODE = { host: '127.0.0.1', port: 1 };

describe('a client of node-redis that is not for a single server', () => {
  test.each<[name: string, client: unknown, message: RegExp]>([
    ['createCluster of 6', createCluster({ rootNodes: [{ socket: NODE }] }), /but was 'a cluster of node-redis'/],
    ['createCluster of 5', createCluster5({ rootNodes: [{ socket: NODE }] }), /but was 'a cluster of node-redis'/],
    ['createSentinel of 6', createSentinel({ name: 'a', sentinelRootNodes: [NODE] }), /'Sentinels of node-redis'/],
    ['createSentinel of 5', createSentinel5({ name: 'a', sentinelRootNodes: [NODE] }), /'Sentinels of node-redis'/],
  ])('is rejected, and the error names what to give: %s', (_, client, message) => {
    const open = () => openClient({ client: client as RedisClient, script: testScript, caller: 'redisStore' });
    expect(open).toThrow(message);
    expect(open).toThrow(/Give new (Cluster|Redis)\(.*of ioredis/);
  });
});
