import type { Time } from '@sluice/core';
import type { ClusterConnection } from '../servers/cluster-connection.ts';
import type { Connection } from '../servers/connection.ts';
import { duplicateCluster, type ClusterClient } from './cluster-nodes.ts';
import { connectionOptions, type NodeRedisOptions } from './connection-options.ts';
import { NodeRedisConnection, type CommandClient } from './node-redis-connection.ts';

/** The part of a client of node-redis that the store uses: what its `createClient`, `createCluster` and `createSentinel` return. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  /** Creates another client with the same settings, some of which the arguments replace. */
  duplicate(...args: never[]): unknown;
  /** Sends a command in words. */
  sendCommand(...args: never[]): unknown;
}

/** Whether a value is a client of node-redis: the packages `redis` and `@redis/client`. */
export function isNodeRedis(client: object): client is NodeRedisClient {
  const { sendCommand, duplicate } = client as Partial<NodeRedisClient>;
  if (typeof sendCommand !== 'function' || !('isOpen' in client)) return false;
  // A client for Sentinels of node-redis 5 has no `duplicate`. Its error is more helpful than that for no client at all.
  return typeof duplicate === 'function' || isNodeRedisSentinel(client);
}

/** Whether a client of node-redis is one of `createSentinel`. */
export function isNodeRedisSentinel(client: object): boolean {
  return 'getMasterNode' in client;
}

/** Whether a client of node-redis is one of `createCluster`. */
export function isNodeRedisCluster(client: NodeRedisClient): boolean {
  return 'getSlotRandomNode' in client;
}

/** Opens connections to the servers of a client of `createClient` or `createCluster`. They keep its address, TLS and login. */
export function duplicateNodeRedis(client: NodeRedisClient, time: Time): Connection | ClusterConnection {
  if (isNodeRedisCluster(client)) return duplicateCluster(client as ClusterClient, time);
  return duplicateSingle(client as SingleClient, time);
}

/** A client for one server. `options` is undefined if it was created without any. */
interface SingleClient {
  readonly options?: NodeRedisOptions | undefined;
  duplicate(overrides: object): CommandClient;
}

function duplicateSingle(client: SingleClient, time: Time): Connection {
  const options = client.options ?? {};
  const { host = 'localhost', port = 6379, path } = options.socket ?? {};
  return new NodeRedisConnection({
    address: path ?? `${host}:${port}`,
    host: path === undefined ? host : undefined,
    createClient: (signal) => client.duplicate(connectionOptions(options, signal)),
    time,
  });
}
