import type { Time } from '@sluice/core';
import type { ClusterConnection } from '../servers/cluster-connection.ts';
import { connectionOptions, type NodeRedisOptions } from './connection-options.ts';
import { NodeRedisCluster } from './node-redis-cluster.ts';
import { NodeRedisConnection, type CommandClient } from './node-redis-connection.ts';
import { clusterOptionsOf } from './private-names.ts';

/** The documented part of what `createCluster` returns that the store uses. */
export interface ClusterClient {
  duplicate(overrides: object): {
    on(event: 'error', listener: () => void): unknown;
    /** Creates and connects the client of a node, and puts it into `node.client`. */
    nodeClient(node: object): Promise<unknown>;
  };
}

/** A client that never connects, and from which those of all nodes are made. */
interface Template {
  duplicate(overrides: object): CommandClient;
  destroy(): void;
}

/**
 * Opens connections to the nodes of a user's cluster. They keep its `defaults` and `nodeAddressMap`; the startup nodes
 * have options of their own, as in node-redis.
 */
export function duplicateCluster(cluster: ClusterClient, time: Time): ClusterConnection {
  const { rootNodes, defaults, nodeAddressMap } = clusterOptionsOf(cluster);
  const template = templateOf(cluster, defaults);
  const connect = (node: NodeRedisOptions): NodeRedisConnection => {
    const socket = { ...defaults?.socket, ...node.socket };
    const { host, port } = { host: 'localhost', port: 6379, ...socket, ...endpointOf(node.url) };
    return new NodeRedisConnection({
      address: `${host}:${port}`,
      host,
      // node-redis reads the URL into the socket options, which are new for each attempt.
      createClient: (signal) =>
        template.duplicate({ ...node, ...connectionOptions({ socket }, signal), url: node.url }),
      time,
    });
  };
  return new NodeRedisCluster({
    natMap: nodeAddressMap,
    connectSeeds: rootNodes.map((node) => () => connect(node)),
    connectNode: (address) => connect({ socket: socketTo(address) }),
    time,
  });
}

// Only a cluster can create clients with the modules and the class of its own copy of node-redis.
function templateOf(cluster: ClusterClient, defaults: NodeRedisOptions | undefined): Template {
  const socket = { ...defaults?.socket, tls: undefined, path: undefined, signal: AbortSignal.abort() };
  const copy = cluster.duplicate({
    defaults: { ...defaults, maintNotifications: 'disabled', socket },
    nodeAddressMap: undefined,
    clientSideCache: undefined,
  });
  copy.on('error', () => {});
  const node: { client?: Template } = { host: 'localhost', port: 6379, address: 'localhost:6379' } as object;
  // The signal ends the attempt to connect before it begins.
  copy.nodeClient(node).catch(() => {});
  const { client } = node as { client: Template };
  client.destroy();
  return client;
}

/** Splits `host:port`. The host of an IPv6 address contains colons too. */
function socketTo(address: string): { host: string; port: number } {
  const end = address.lastIndexOf(':');
  return { host: address.slice(0, end), port: Number(address.slice(end + 1)) };
}

/** Reads host and port of a URL, as node-redis does. */
function endpointOf(url: string | undefined): { host?: string; port?: number } {
  if (url === undefined) return {};
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return port === '' ? { host } : { host, port: Number(port) };
}
