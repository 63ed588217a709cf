import { createCluster } from 'redis';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { clusterOptionsOf } from '../../src/node-redis/private-names.ts';
import { call, isUp, openScriptClient } from '../ioredis/support/client.ts';
import { add } from '../ioredis/support/scripts.ts';

describe('a script client beside a cluster client of node-redis', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await sharedCluster();
  });

  const urls = () => cluster.addresses.map(({ host, port }) => ({ url: `redis://${host}:${port}` }));
  const usersOf = async (node: RedisCluster['nodes'][number]): Promise<string> => node.call('CLIENT', 'LIST');

  test('finds the nodes by URLs, and neither connects nor changes the client', async () => {
    const defaults = { username: 'default', password: 'any', socket: { keepAlive: true } };
    const client = createCluster({ rootNodes: urls(), defaults });
    const scriptClient = openScriptClient({ client });
    await isUp(scriptClient);
    const ports = scriptClient.status().servers.map(({ server }) => server);
    expect(ports.toSorted()).toEqual(
      cluster.nodes
        .slice(0, 3)
        .map(({ port }) => `127.0.0.1:${port}`)
        .toSorted(),
    );
    expect(client.isOpen).toBe(false);
    expect(clusterOptionsOf(client).rootNodes).toEqual(urls());
    expect(clusterOptionsOf(client).defaults).toEqual({
      username: 'default',
      password: 'any',
      socket: { keepAlive: true },
    });
  });

  test('works with any options of the client for sending commands', async () => {
    const client = createCluster({
      rootNodes: urls(),
      useReplicas: true,
      minimizeConnections: true,
      maxCommandRedirections: 0,
      commandOptions: { typeMapping: { 58: String } },
      defaults: { disableOfflineQueue: false, pingInterval: 10, socket: { reconnectStrategy: false } },
    });
    const scriptClient = openScriptClient({ client });
    await isUp(scriptClient);
    const key = `own ${Math.random()}`;
    expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 1]);
  });

  test('logs in to every primary with the `defaults`', async () => {
    const logins = ['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all'] as const;
    await Promise.all(cluster.nodes.map((node) => node.call(...logins)));
    const defaults = { username: 'app', password: 'secret' };
    const scriptClient = openScriptClient({ client: createCluster({ rootNodes: urls(), defaults }) });
    await isUp(scriptClient);
    const lists = await Promise.all(cluster.nodes.slice(0, 3).map(usersOf));
    expect(lists.map((list) => list.includes('user=app'))).toEqual([true, true, true]);
  });

  test('reports that the password is wrong', async () => {
    const defaults = { username: 'nobody', password: 'wrong' };
    const scriptClient = openScriptClient({ client: createCluster({ rootNodes: urls(), defaults }) });
    await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('WRONGPASS'));
    expect(scriptClient.status().state).toBe('down');
  });

  test('reports that a server belongs to no cluster', async () => {
    const { host, port } = await redisServer();
    const scriptClient = openScriptClient({ client: createCluster({ rootNodes: [{ socket: { host, port } }] }) });
    const cause = (): string => String(scriptClient.status().lastError?.cause);
    await until('the cause is known', () => cause().includes('cluster support disabled'));
    expect(scriptClient.status().state).toBe('down');
  });

  test('reaches the nodes at the addresses of `nodeAddressMap`', async () => {
    const proxies = new Map(
      await Promise.all(
        cluster.nodes.map(async ({ host, port }) => [`${host}:${port}`, await tcpProxy({ port })] as const),
      ),
    );
    const nodeAddressMap = (address: string) => proxies.get(address as `${string}:${number}`);
    const scriptClient = openScriptClient({ client: createCluster({ rootNodes: urls(), nodeAddressMap }) });
    await isUp(scriptClient);
    const servers = scriptClient.status().servers.map(({ server }) => server);
    const outside = new Set([...proxies.values()].map(({ host, port }) => `${host}:${port}`));
    expect(servers.every((server) => outside.has(server))).toBe(true);
  });
});
