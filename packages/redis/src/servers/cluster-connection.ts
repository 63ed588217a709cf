import type { Connection } from './connection.ts';
import type { NatMap } from './redirects.ts';

/** The connections to a cluster and its slot map: the seam to the cluster clients of Redis clients. */
export interface ClusterConnection {
  readonly isCluster: true;
  /** Whether the slot map is known, so that it can be refreshed. */
  readonly isReady: boolean;
  /** The user's map of the addresses that nodes announce. */
  readonly natMap: NatMap | null | undefined;
  /** @returns A function that removes the listener. */
  listen(listener: ClusterListener): () => void;
  /** Returns the connections to the primaries of the slot map, by `host:port`. Each is the same object at each call. */
  primaries(): ReadonlyMap<string, Connection>;
  /** Returns the `host:port` of the primary of a hash slot; `undefined` if it is not known. */
  primaryOf(slot: number): string | undefined;
  /** Changes the primary of a hash slot in the slot map. */
  setPrimary(slot: number, address: string): void;
  /** Refreshes the slot map. Then the listener is called, or `onFailure` if no node has answered. */
  refresh(onFailure: () => void): void;
  /** Discovers the cluster again from the user's startup nodes. */
  rediscover(): void;
  /** Closes the connections to all nodes. */
  close(): Promise<void>;
}

export interface ClusterListener {
  /** The slot map was refreshed. */
  readonly refreshed: () => void;
  /** No node could be reached, or none has answered. */
  readonly failed: (error: unknown) => void;
}
