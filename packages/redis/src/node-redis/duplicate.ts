import type { SluiceError, Time } from '@sluice/core';
import { complaint } from '@sluice/core/kit';
import type { ClusterConnection } from '../servers/cluster-connection.ts';
import type { Connection } from '../servers/connection.ts';
import { duplicateCluster, type ClusterClient } from './cluster-nodes.ts';
import { connectionOptions, type NodeRedisOptions } from './connection-options.ts';
import { NodeRedisConnection, type CommandClient } from './node-redis-connection.ts';

/** The part of a client of node-redis that the store uses: what `createClient` and `createCluster` return. */
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
  // Sentinels of node-redis 5 can't be duplicated.
  return typeof duplicate === 'function' || isSentinel(client);
}

function isSentinel(client: object): boolean {
  return 'getMasterNode' in client;
}

/** Whether a client of node-redis is one of `createCluster`. */
export function isNodeRedisCluster(client: NodeRedisClient): boolean {
  return 'getSlotRandomNode' in client;
}

/**
 * Opens connections to the servers of a user's client. They keep the client's options for address, TLS and credentials.
 *
 * @throws {SluiceError} `ERR_OPTION` for what `createSentinel` returns.
 */
export function duplicateNodeRedis(client: NodeRedisClient, time: Time): Connection | ClusterConnection {
  if (isNodeRedisCluster(client)) return duplicateCluster(client as ClusterClient, time);
  if (isSentinel(client)) throw notSupported('Sentinels of node-redis', 'new Redis({ sentinels, name }) of ioredis');
  return duplicateSingle(client as SingleClient, time);
}

function notSupported(was: string, instead: string): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'client',
    demand: 'what createClient or createCluster returns, if it is of node-redis',
    value: was,
    remedy: `Give ${instead}.`,
  });
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
