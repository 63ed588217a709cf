import { pauseMs } from '../servers/pause.ts';

/**
 * The options that replace those of the user's client. All others are kept: address, TLS, credentials, database,
 * family, protocol, Sentinels, natMap and names.
 */
const OUR_OPTIONS = {
  // A command that is queued in the process or sent again could be executed after its deadline.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  lazyConnect: false,
  // DeadlinedClient enforces the deadlines. A command that times out in ioredis would remain in its queue.
  commandTimeout: undefined,
  // In ioredis 5 this timer outlives its socket, and then destroys the next one.
  socketTimeout: undefined,
  blockingTimeout: undefined,
  enableAutoPipelining: false,
  reconnectOnError: null,
  retryStrategy: pauseMs,
  // ConnectWatch is quicker in three of four attempts. This timeout also covers the connections to Sentinels.
  connectTimeout: 1000,
  disconnectTimeout: 50,
  enableReadyCheck: true,
  // Less than ConnectWatch allows, so that a server that is loading its data does not look stuck.
  maxLoadingRetryTime: 100,
  sentinelRetryStrategy: pauseMs,
  sentinelCommandTimeout: 250,
  role: 'master',
  readOnly: false,
  monitor: false,
  autoResubscribe: false,
  // The store alone determines the keys, so that processes with different clients agree on them.
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy',
  showFriendlyErrorStack: false,
  scripts: undefined,
  himportFieldsets: undefined,
} as const;

/** The options that replace those of a `Redis`, with or without Sentinels. */
export function singleOptions(): Record<string, unknown> {
  return { ...OUR_OPTIONS };
}

/**
 * The options that replace those of a `Cluster`.
 *
 * @param redisOptions - The user's options for each node. They are merged here, because ioredis 5 replaces the object.
 */
export function clusterOptions(redisOptions: object | null | undefined): Record<string, unknown> {
  return {
    ...CLUSTER_OPTIONS,
    // This includes `lazyConnect: false`: replicas are connected too, so that a promoted replica can be used at once.
    redisOptions: { ...redisOptions, ...OUR_OPTIONS },
  };
}

const CLUSTER_OPTIONS = {
  enableOfflineQueue: false,
  lazyConnect: false,
  // The ready check would wait forever for a node that hangs. Each ScriptServer checks its node before it opens.
  enableReadyCheck: false,
  enableAutoPipelining: false,
  scaleReads: 'master',
  keyPrefix: '',
  // ClusterServers follows redirections, because the expiry must be in the time of the node that executes the call.
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
