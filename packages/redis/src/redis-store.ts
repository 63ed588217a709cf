import { checkOptions, checkTime, complaint, eventSink, systemTime, wholeNumber, type Hints } from '@sluice/core/kit';
import { SluiceError, type Log, type Time } from '@sluice/core';
import { connectionChanged, type RedisStoreEvent } from './batches/events.ts';
import { decideScript } from './batches/script-batch.ts';
import { SharedStore, type RedisStore } from './batches/shared-store.ts';
import type { ConnectionChange } from './client/connection-status.ts';
import { isClient, openClient, type ClientOptions, type RedisClient } from './open-client.ts';
import type { BucketKeysOptions, HashTag } from './batches/bucket-keys.ts';

/**
 * Creates a store that keeps its buckets in Redis, for any number of processes. A Lua script decides each batch
 * atomically on the clock of the server; in a cluster that applies to the buckets of one hash slot, see
 * {@link HashTag}.
 *
 * The store opens a connection of its own with the settings of `client`, and connects and reconnects until you close
 * the store. Your client is neither used nor changed.
 *
 * @example
 * const store = redisStore({ client: new Redis() });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option; `ERR_OPTION` for a wrong value, and if not exactly
 * one of `client` and `url` is given.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const { connection, onEvent, log, time, ...own } = checkRedisStoreOptions(options);
  const emitUnlogged = eventSink<RedisStoreEvent>({ onEvent, log: false });
  const onChange = (change: ConnectionChange): void => emitUnlogged(connectionChanged(change));
  const emit = eventSink<RedisStoreEvent>({ onEvent, log, time });
  // The client is opened last: an error after that would leave a connection that the caller could not close.
  const caller = 'redisStore';
  const client = openClient({ ...connection, caller, script: decideScript, onChange, time });
  return new SharedStore({ ...own, caller, client, emit, time });
}

/** The options of {@link redisStore}. Exactly one of `client` and `url` must be given. */
export interface RedisStoreOptions {
  /**
   * Your client of ioredis 5.8 or later or of iovalkey: a `Redis`, with or without Sentinels, or a `Cluster`. Or of
   * node-redis 6: what `createClient`, `createCluster` or `createSentinel` returns. The store connects a duplicate with
   * the same settings, and sends nothing over the client itself.
   */
  readonly client?: RedisClient | undefined;
  /** The URL of a single server: `redis://…`, or `rediss://…` for TLS, with credentials and database if needed. */
  readonly url?: string | undefined;
  /** The beginning of all keys: up to 64 letters, digits and `. _ : / -`. Default: `sluice:`. */
  readonly prefix?: string | undefined;
  /** In a cluster: which buckets share a hash slot, so that one call can decide them. Default: no hash tag. */
  readonly hashTag?: HashTag | undefined;
  /**
   * How long this process may repeat a denial of Redis without calling Redis again, in milliseconds: a whole number
   * from 0, which disables this, to 1000. It keeps the load low when a client retries in a loop. A repeated denial has
   * the same figures as a new one. Default: 1000.
   */
  readonly rememberDenialsMs?: number | undefined;
  /** Called for each event. Its result is not awaited, and its errors are ignored. */
  readonly onEvent?: ((event: RedisStoreEvent) => void) | undefined;
  /**
   * Called with log lines; `false` disables logging. The store logs only the event `refund-lost`, at most one line in
   * ten seconds. Its errors are ignored. Default: `console.warn`.
   */
  readonly log?: Log | false | undefined;
  /**
   * The source of time of deadlines, remembered denials, reconnecting and log lines. Buckets follow the clock of Redis.
   * Default: the process's own time; for tests a `FakeTime` of `@sluice/core/testing`.
   */
  readonly time?: Time | undefined;
}

/** {@link RedisStoreOptions}, validated and with defaults. */
export interface CheckedOptions extends BucketKeysOptions, Pick<RedisStoreOptions, 'onEvent' | 'log'> {
  readonly connection: Pick<ClientOptions, 'client' | 'url'>;
  readonly rememberDenialsMs: number;
  readonly time: Time;
}

const NAMES = ['client', 'url', 'prefix', 'hashTag', 'rememberDenialsMs', 'onEvent', 'log', 'time'] as const;

const CLIENT = 'is `client` here, e.g. client: new Redis()';
const PREFIX = "is `prefix` here, e.g. prefix: 'sluice:'";
const DENIALS = 'is `rememberDenialsMs` here; it is on by default';
const FAILURE = 'belongs to the limiter here: createLimiter({ failure: { deadlineMs, onFailure, gateways } })';
const ofClient = (name: string): string =>
  `is an option of the client here: redisStore({ client: new Redis({ ${name} }) })`;
const OURS = 'has no counterpart: scripts and connection are our own';

const HINTS: Hints = Object.fromEntries(
  Object.entries({
    storeClient: CLIENT,
    redis: CLIENT,
    db: CLIENT,
    sendCommand: CLIENT,
    keyPrefix: PREFIX,
    nameSpace: PREFIX,
    namespace: PREFIX,
    inMemoryBlockOnConsumed: DENIALS,
    inMemoryBlockDuration: DENIALS,
    ephemeralCache: DENIALS,
    insuranceLimiter: FAILURE,
    timeout: FAILURE,
    commandTimeout: FAILURE,
    skipOnError: FAILURE,
    passOnStoreError: FAILURE,
    deadlineMs: FAILURE,
    onFailure: FAILURE,
    rejectIfRedisNotReady: OURS,
    useRedisPackage: OURS,
    customIncrTtlLuaScript: OURS,
    resetExpiryOnChange: OURS,
    ...Object.fromEntries(
      ['host', 'port', 'username', 'password', 'tls', 'sentinels'].map((name) => [name, ofClient(name)]),
    ),
  }).map(([name, text]) => [name, `\`${name}\` ${text}.`]),
);

const PREFIX_PATTERN = /^[A-Za-z0-9._:/-]{0,64}$/;

/**
 * Validates the options, except that one of `client` and `url` is given, and their kind: `openClient` does that.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option, `ERR_OPTION` for a wrong value.
 */
export function checkRedisStoreOptions(options: RedisStoreOptions): CheckedOptions {
  return checkSharedOptions('redisStore', options, []);
}

/**
 * Validates the options that all stores of this package have, and the names of all.
 *
 * @param where - The function that creates the store.
 * @param moreNames - The names of its other options.
 * @throws {SluiceError} As {@link checkRedisStoreOptions}.
 */
export function checkSharedOptions(
  where: string,
  options: RedisStoreOptions,
  moreNames: readonly string[],
): CheckedOptions {
  rejectConnection(where, options);
  checkOptions(where, options, [...NAMES, ...moreNames], HINTS, `${where}({ url: 'redis://127.0.0.1:6379' })`);
  const { client, url, prefix = 'sluice:', hashTag, rememberDenialsMs = 1000, onEvent, log } = options;
  const { time = systemTime } = options;
  checkUrl(url);
  checkTime(time);
  return {
    connection: { client, url },
    prefix: checkedPrefix(prefix),
    hashTag: checkedHashTag(hashTag),
    rememberDenialsMs: wholeNumber('rememberDenialsMs', rememberDenialsMs, { min: 0, max: 1000 }),
    onEvent,
    log,
    time,
  };
}

// A message about unknown options shows their values, so a client or URL in the place of the options would put its
// password into a log.
function rejectConnection(where: string, options: unknown): void {
  if (typeof options === 'string') throw notOptions(where, 'text', `the URL as ${where}({ url })`);
  if (typeof options !== 'object' || options === null || !('duplicate' in options)) return;
  throw notOptions(
    where,
    'a client',
    `${isClient(options) ? 'the client' : 'a client of ioredis, iovalkey or node-redis'} as ${where}({ client })`,
  );
}

function notOptions(where: string, was: string, right: string): SluiceError {
  return new SluiceError('ERR_OPTION', `must be an object of options, but was ${was}. Pass ${right}.`, { path: where });
}

// The message shows only the type of a value that is not text, because the value may contain a password.
function checkUrl(url: unknown): void {
  if (url === undefined || typeof url === 'string') return;
  const remedy = "For example url: 'redis://127.0.0.1:6379'. Of a URL object, give its `href`.";
  throw complaint('ERR_OPTION', { option: 'url', demand: 'text', value: typeof url, remedy });
}

function checkedPrefix(prefix: unknown): string {
  if (typeof prefix === 'string' && PREFIX_PATTERN.test(prefix)) return prefix;
  const remedy = "For example prefix: 'shop:limits:'. To keep keys in one slot, use `hashTag` instead of braces.";
  const demand = 'up to 64 letters, digits and `. _ : / -`';
  throw complaint('ERR_OPTION', { option: 'prefix', demand, value: prefix, remedy });
}

function checkedHashTag(hashTag: unknown): HashTag | undefined {
  if (hashTag === undefined || typeof hashTag === 'function') return hashTag as HashTag | undefined;
  if (typeof hashTag === 'string' && hashTag !== '' && hashTag.isWellFormed()) return hashTag;
  const remedy = "For example hashTag: 'id', or hashTag: ({ id }) => tenants.get(id).";
  throw complaint('ERR_OPTION', {
    option: 'hashTag',
    demand: "'id', a text that is not empty, or a function of the bucket",
    value: hashTag,
    remedy,
  });
}
