import type { Redis as RedisClient } from 'ioredis';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import {
  clusterFlagOf,
  CONNECTING_EVENT,
  deleteCommand,
  disableOfflineQueue,
  lastNodeErrorOf,
  primaryOf,
  REFRESH_EVENT,
  refreshSlots,
  setPrimary,
  socketOf,
} from '../../src/ioredis/private-names.ts';
import { ended, VERSIONS } from './support/client.ts';

const LAZY = { lazyConnect: true };
const NOWHERE = { host: '127.0.0.1', port: 1 };

describe.each(VERSIONS)('$version still has', ({ version, Redis, Cluster }) => {
  /** Runs a check of a name, whose failure says what to do. */
  function expectName(name: string, check: () => void): void {
    try {
      check();
    } catch (cause) {
      throw new Error(`${version} has changed \`${name}\`: adapt src/ioredis/private-names.ts.`, { cause });
    }
  }
  const connectionTo = (port: number): RedisClient => ended(new Redis(port, LAZY));

  test('`isCluster`, which distinguishes its two clients', () => {
    expectName('isCluster', () => expect(clusterFlagOf(new Redis(LAZY))).toBe(false));
    expectName('isCluster', () => expect(clusterFlagOf(new Cluster([NOWHERE], LAZY))).toBe(true));
    expect(clusterFlagOf({})).toBeUndefined();
  });

  test('`stream`, the socket of a connection, and the event `connecting`', async () => {
    const { port } = await redisServer();
    const connection = connectionTo(port);
    expect(socketOf(connection)).toBeUndefined();
    let isAnnounced = false;
    connection.on(CONNECTING_EVENT, () => (isAnnounced = true));
    await connection.connect();
    expectName("on('connecting')", () => expect(isAnnounced).toBe(true));
    expectName('stream', () => expect(socketOf(connection)).toBeInstanceOf(Socket));
    expect(socketOf(connection)).toMatchObject({ remotePort: port, destroyed: false });
    connection.disconnect();
    expectName('stream', () => expect(socketOf(connection)).toBeInstanceOf(Socket));
  });

  test('`options.enableOfflineQueue`, which is read at each command', async () => {
    const connection = connectionTo(1);
    disableOfflineQueue(connection);
    const error: unknown = await connection.get('key').catch((thrown: unknown) => thrown);
    expectName('options.enableOfflineQueue', () => expect(String(error)).toContain('enableOfflineQueue'));
  });

  test('`command` on the error of a server', async () => {
    const { port } = await redisServer();
    const client = ended(new Redis(port));
    const error: unknown = await client.call('NOSUCH', 'secret').catch((thrown: unknown) => thrown);
    expectName('command', () => expect(error).toMatchObject({ name: 'ReplyError', command: { args: ['secret'] } }));
    deleteCommand(error as Error);
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  test('`slots`, `refreshSlotsCache` and the event `refresh` of a cluster', async () => {
    const { addresses } = await sharedCluster();
    const cluster = ended(new Cluster([...addresses], LAZY));
    const isRefreshed = once(cluster, REFRESH_EVENT);
    await cluster.connect();
    await isRefreshed;
    const primary = primaryOf(cluster, 0);
    expectName('slots', () => expect(primary).toMatch(/^127\.0\.0\.1:\d+$/));
    setPrimary(cluster, 0, '127.0.0.1:1');
    expect(primaryOf(cluster, 0)).toBe('127.0.0.1:1');
    const isRefreshedAgain = once(cluster, REFRESH_EVENT);
    refreshSlots(cluster, () => expect.unreachable());
    await isRefreshedAgain;
    expectName('refreshSlotsCache', () => expect(primaryOf(cluster, 0)).toBe(primary));
  });

  test('`lastNodeError` on the error of a cluster without a node that answers', async () => {
    const cluster = ended(new Cluster([NOWHERE], { ...LAZY, clusterRetryStrategy: () => null }));
    const errors: unknown[] = [];
    cluster.on('error', (error) => errors.push(error));
    await cluster.connect().catch(() => {});
    await until('the cluster has failed', () => errors.length > 0);
    expectName('lastNodeError', () => expect(lastNodeErrorOf(errors[0])).toBeInstanceOf(Error));
    let isReported = false;
    refreshSlots(cluster, () => (isReported = true));
    await until('the failure is reported', () => isReported);
  });
});
