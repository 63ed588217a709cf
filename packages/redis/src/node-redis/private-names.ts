import type { NatMap } from '../servers/redirects.ts';
import type { NodeRedisOptions } from './connection-options.ts';

// All names of node-redis that it does not document. Its versions may rename them without notice, so no other file uses
// them, and cluster.redis.test.ts checks each of them in every version that the store supports.

/** The options of a cluster that the store reads. */
export interface ClusterOptions {
  readonly rootNodes: readonly NodeRedisOptions[];
  readonly defaults?: NodeRedisOptions | undefined;
  readonly nodeAddressMap?: NatMap | undefined;
}

/** Returns the options that `createCluster` was called with. */
export function clusterOptionsOf(cluster: object): ClusterOptions {
  const { _options: options } = cluster as { _options: ClusterOptions };
  return options;
}
