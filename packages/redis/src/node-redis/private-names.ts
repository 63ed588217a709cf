import type { NatMap } from '../servers/redirects.ts';
import type { NodeRedisOptions } from './connection-options.ts';

// All names of node-redis that it does not document. Its versions may rename them without notice, so no other file uses
// them, and private-names.test.ts checks each of them in every version that the store supports.

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

/** The options of Sentinels that the store reads. */
export interface SentinelOptions {
  readonly name: string;
  readonly sentinelRootNodes: readonly { readonly host: string; readonly port: number }[];
  readonly nodeClientOptions?: SentinelClientOptions | undefined;
  readonly sentinelClientOptions?: SentinelClientOptions | undefined;
  readonly nodeAddressMap?: NatMap | undefined;
}

/** The options of the clients for servers, or of those for Sentinels, that the store reads. */
export interface SentinelClientOptions {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly credentialsProvider?: unknown;
  readonly database?: number | undefined;
  readonly name?: string | undefined;
  readonly socket?: Readonly<Record<string, unknown>> & { readonly family?: number | undefined };
}

/**
 * Returns the options that `createSentinel` was called with; `undefined` if the version of node-redis hides them. They are
 * private, but `duplicate` passes them to the constructor of its class. Here it is called on an object of another class.
 */
export function sentinelOptionsOf(sentinel: object): SentinelOptions | undefined {
  const prototype = Object.create(sentinel, { constructor: { value: GivenOptions } }) as object;
  const { duplicate } = prototype as { duplicate?: () => unknown };
  const copy = duplicate?.call(Object.create(prototype));
  return copy instanceof GivenOptions ? copy.options : undefined;
}

class GivenOptions {
  readonly options: SentinelOptions;

  constructor(options: SentinelOptions) {
    this.options = options;
  }
}
