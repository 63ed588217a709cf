import type { Socket } from 'node:net';

// All names of ioredis that it does not document, or marks as internal. Its versions may rename them without notice, so
// no other file uses them, and private-names.redis.test.ts checks each of them in every version that the store supports.

/** Whether a client of ioredis is a `Cluster`; `undefined` if the value is not a client of ioredis. */
export function clusterFlagOf(client: object): boolean | undefined {
  const { isCluster } = client as { isCluster?: unknown };
  return typeof isCluster === 'boolean' ? isCluster : undefined;
}

/** Returns the socket of the current or the last attempt to connect; `undefined` before the first. */
export function socketOf(connection: object): Socket | undefined {
  return (connection as { stream?: Socket }).stream;
}

/** The event of a connection when an attempt to connect begins. */
export const CONNECTING_EVENT = 'connecting';

/** Makes a connection reject commands while it is not connected. */
export function disableOfflineQueue(connection: { readonly options: object }): void {
  (connection.options as { enableOfflineQueue?: boolean }).enableOfflineQueue = false;
}

/** Removes the command that ioredis adds to an error of a server. */
export function deleteCommand(error: object): void {
  delete (error as { command?: unknown }).command;
}

/** Returns the `host:port` of the primary of a hash slot, by the slot map of ioredis. */
export function primaryOf(cluster: object, slot: number): string | undefined {
  return slotsOf(cluster)[slot]?.[0];
}

/** Changes the primary of a hash slot in the slot map of ioredis. */
export function setPrimary(cluster: object, slot: number, address: string): void {
  slotsOf(cluster)[slot] = [address];
}

function slotsOf(cluster: object): (readonly string[] | undefined)[] {
  return (cluster as { slots: (readonly string[] | undefined)[] }).slots;
}

/** Refreshes the slot map. ioredis then emits {@link REFRESH_EVENT}, or calls `onFailure` if no node has answered. */
export function refreshSlots(cluster: object, onFailure: () => void): void {
  const { refreshSlotsCache } = cluster as {
    refreshSlotsCache: (callback: (error?: Error | null) => void) => void;
  };
  refreshSlotsCache.call(cluster, (error) => {
    if (error) onFailure();
  });
}

/** The event of a cluster when its slot map was refreshed. */
export const REFRESH_EVENT = 'refresh';

/** Returns the last error of a node, if the error of a cluster is that all its nodes have failed. */
export function lastNodeErrorOf(error: unknown): unknown {
  return (error as { lastNodeError?: unknown }).lastNodeError;
}
