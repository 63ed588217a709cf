import type { Cluster, Redis } from 'ioredis';
import { errorPrefix } from '../client/server-errors.ts';
import type { ClusterConnection, ClusterListener } from '../servers/cluster-connection.ts';
import type { Connection } from '../servers/connection.ts';
import type { NatMap } from '../servers/redirects.ts';
import { closeRedis, IoredisConnection, readError } from './ioredis-connection.ts';
import {
  disableOfflineQueue,
  lastNodeErrorOf,
  primaryOf,
  REFRESH_EVENT,
  refreshSlots,
  setPrimary,
} from './private-names.ts';

/** A cluster of ioredis 5 or 6, or of iovalkey. It maintains the connections and the slot map. */
export class IoredisCluster implements ClusterConnection {
  readonly isCluster = true;
  readonly #cluster: Cluster;
  readonly #connections = new WeakMap<Redis, IoredisConnection>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  get isReady(): boolean {
    // A cluster that is connecting refreshes the map by itself.
    return this.#cluster.status === 'ready';
  }

  get natMap(): NatMap | null | undefined {
    return this.#cluster.options.natMap;
  }

  listen({ refreshed, failed }: ClusterListener): () => void {
    const onError = (error: unknown): void => failed(explained(error));
    this.#cluster.on(REFRESH_EVENT, refreshed).on('error', onError);
    return () => void this.#cluster.off(REFRESH_EVENT, refreshed).off('error', onError);
  }

  primaries(): ReadonlyMap<string, Connection> {
    const connections = this.#cluster.nodes('master').map((redis) => this.#connectionOf(redis));
    return new Map(connections.map((connection) => [connection.address, connection]));
  }

  primaryOf(slot: number): string | undefined {
    return primaryOf(this.#cluster, slot);
  }

  setPrimary(slot: number, address: string): void {
    setPrimary(this.#cluster, slot, address);
  }

  refresh(onFailure: () => void): void {
    refreshSlots(this.#cluster, onFailure);
  }

  rediscover(): void {
    this.#cluster.disconnect(true);
  }

  async close(): Promise<void> {
    const nodes = this.#cluster.nodes('all');
    this.#cluster.disconnect();
    await Promise.all(nodes.map(closeRedis));
  }

  #connectionOf(redis: Redis): IoredisConnection {
    const connection = this.#connections.get(redis) ?? new IoredisConnection(redis);
    this.#connections.set(redis, connection);
    // ioredis enables the offline queue of cluster nodes regardless of their options, but a script must not be queued.
    disableOfflineQueue(redis);
    if (redis.status === 'wait') redis.connect().catch(() => {});
    return connection;
  }
}

// The reply of a node, such as NOAUTH, explains more than the error of ioredis that all nodes have failed.
function explained(error: unknown): unknown {
  const lastNodeError = lastNodeErrorOf(error);
  return errorPrefix(lastNodeError) === undefined ? error : readError(lastNodeError);
}
