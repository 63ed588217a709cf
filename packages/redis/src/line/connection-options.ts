/** The last pause between two attempts to connect, in milliseconds: a server that is back is found as soon. */
const MAX_PAUSE_MS = 200;

const pauseMs = (attempt: number): number => Math.min(50 * attempt, MAX_PAUSE_MS);

/**
 * What our connections do in another way than the user's client, whatever its options are. All else stays as the user
 * has it: address, TLS, credentials, db, family, protocol, Sentinels, natMap, names.
 */
const OUR_OPTIONS = {
  // A command that waits in the process, or is sent again, is a decision made after its deadline.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  lazyConnect: false,
  // The deadline is ours; a command that times out in ioredis would still be in its queue.
  commandTimeout: undefined,
  // ioredis 5 lets this timer outlive its socket, and kills the next one.
  socketTimeout: undefined,
  blockingTimeout: undefined,
  enableAutoPipelining: false,
  reconnectOnError: null,
  retryStrategy: pauseMs,
  // The watch over connecting is quicker three times of four; this one holds for the connections to Sentinels too.
  connectTimeout: 1000,
  disconnectTimeout: 50,
  enableReadyCheck: true,
  // Less than the watch over connecting waits: a server that loads its data is not taken for a stuck one.
  maxLoadingRetryTime: 100,
  sentinelRetryStrategy: pauseMs,
  sentinelCommandTimeout: 250,
  role: 'master',
  readOnly: false,
  monitor: false,
  autoResubscribe: false,
  // Keys are what the store says: all gateways must agree on them, whatever client each one has.
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  showFriendlyErrorStack: false,
  scripts: undefined,
  himportFieldsets: undefined,
} as const;

/** Options to override those of a client of one server, or of Sentinels. */
export function singleOptions(): Record<string, unknown> {
  return { ...OUR_OPTIONS };
}

/**
 * Options to override those of a client of a cluster.
 *
 * @param redisOptions - Those of the user for each node: ioredis 5 replaces them whole, so they are merged here.
 */
export function clusterOptions(redisOptions: object | null | undefined): Record<string, unknown> {
  return {
    ...CLUSTER_OPTIONS,
    // With it `lazyConnect: false`: replicas are connected too, so that one that is promoted is there at once.
    redisOptions: { ...redisOptions, ...OUR_OPTIONS },
  };
}

const CLUSTER_OPTIONS = {
  enableOfflineQueue: false,
  lazyConnect: false,
  // It would wait for ever for the answer of a node that hangs. Each node is asked by us before it is used.
  enableReadyCheck: false,
  enableAutoPipelining: false,
  scaleReads: 'master',
  keyPrefix: '',
  // Redirections are followed by us: each node has a clock of its own.
  maxRedirections: 0,
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 0,
  retryDelayOnMoved: 0,
  slotsRefreshTimeout: 250,
  slotsRefreshInterval: 5000,
  clusterRetryStrategy: pauseMs,
  clusterNodeRetryStrategy: null,
  shardedSubscribers: false,
  scripts: undefined,
  himportFieldsets: undefined,
} as const;
