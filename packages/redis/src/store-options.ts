import { SluiceError, type Log } from '@sluice/core';
import { checkOptions, complaint, wholeNumber, type Hints } from '@sluice/core/kit';
import type { BucketKeysOptions, HashTag } from './bucket-keys.ts';
import type { RedisStoreEvent } from './events.ts';
import type { LineOptions, RedisClient } from './line/line.ts';
import { isIoredis } from './line/own-connection.ts';

/** The options of {@link redisStore}. One of `client` and `url` is needed. */
export interface RedisStoreOptions {
  /** Your ioredis client: a `Redis`, with Sentinels or without, or a `Cluster`. A copy of it is connected. */
  readonly client?: RedisClient | undefined;
  /** Where Redis is, instead of a client: `redis://…` or `rediss://…`, with credentials and database. */
  readonly url?: string | undefined;
  /** What the keys of all buckets begin with: 0–64 letters, digits and `. _ : / -`. Default: `sluice:`. */
  readonly prefix?: string | undefined;
  /** In a cluster: which buckets are kept in one slot, and so decided by one call. Default: none. */
  readonly hashTag?: HashTag | undefined;
  /**
   * For how long a denial is remembered in this process, in milliseconds, a whole number from 0 to 1000: a client that
   * hammers is then denied without a call, with the same figures. Default: 1000.
   */
  readonly rememberDenialsMs?: number | undefined;
  /** Told of changes of the connection, and of refunds between slots that failed. What it throws is ignored. */
  readonly onEvent?: ((event: RedisStoreEvent) => void) | undefined;
  /** Where the line of a refund that failed goes; `false` for nowhere. Default: `console.warn`. What it throws is ignored. */
  readonly log?: Log | false | undefined;
}

/** {@link RedisStoreOptions}, checked and whole. */
export interface CheckedOptions extends BucketKeysOptions, Pick<RedisStoreOptions, 'onEvent' | 'log'> {
  readonly connection: Pick<LineOptions, 'client' | 'url'>;
  readonly rememberDenialsMs: number;
}

const NAMES = ['client', 'url', 'prefix', 'hashTag', 'rememberDenialsMs', 'onEvent', 'log'] as const;

const CLIENT = 'is `client` here, e.g. client: new Redis()';
const PREFIX = "is `prefix` here, e.g. prefix: 'sluice:'";
const DENIALS = 'is `rememberDenialsMs` here; it is on by default';
const FAILURE = 'is a matter of the limiter here: createLimiter({ failure: { deadlineMs, onFailure, gateways } })';
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

/** @throws {SluiceError} `ERR_UNKNOWN_OPTION`, `ERR_OPTION`. */
export function checkRedisStoreOptions(options: RedisStoreOptions): CheckedOptions {
  refuseConnection(options);
  checkOptions('redisStore', options, NAMES, HINTS, "redisStore({ url: 'redis://127.0.0.1:6379' })");
  const { client, url, prefix = 'sluice:', hashTag, rememberDenialsMs = 1000, onEvent, log } = options;
  checkUrl(url);
  return {
    connection: { client, url },
    prefix: checkedPrefix(prefix),
    hashTag: checkedHashTag(hashTag),
    rememberDenialsMs: wholeNumber('rememberDenialsMs', rememberDenialsMs, { min: 0, max: 1000 }),
    onEvent,
    log,
  };
}

// Shown as options, a client or a URL would put its password into a log.
function refuseConnection(options: unknown): void {
  if (typeof options === 'string') throw notOptions('text', 'the URL as redisStore({ url })');
  if (typeof options !== 'object' || options === null || !('duplicate' in options)) return;
  throw notOptions(
    'a client',
    `${isIoredis(options) ? 'the client' : 'a client of ioredis'} as redisStore({ client })`,
  );
}

function notOptions(was: string, right: string): SluiceError {
  return new SluiceError('ERR_OPTION', `\`redisStore\` must be an object of options, but was ${was}. Pass ${right}.`);
}

// That there is one of both, and what a URL must be, is checked where it is used. What is no text may hold a password.
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
