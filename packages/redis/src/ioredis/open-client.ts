import { SluiceError, type Time } from '@sluice/core';
import { complaint, systemTime } from '@sluice/core/kit';
import { Redis } from 'ioredis';
import type { ConnectionChange } from '../client/connection-status.ts';
import { DeadlinedClient } from '../client/deadlined-client.ts';
import type { ScriptClient } from '../client/script-client.ts';
import type { Script } from '../client/script.ts';
import { createCounts, type ClientParts } from '../client/script-servers.ts';
import { ClusterServers } from './cluster-servers.ts';
import { clusterOptions, singleOptions } from './connection-options.ts';
import type { ClusterConnection, Connection } from './connection.ts';
import { clusterFlagOf } from './private-names.ts';
import { SingleServer } from './single-server.ts';

/**
 * The part of an ioredis client that the store uses: a `Redis` or a `Cluster` of ioredis 5.8 or later. The store
 * duplicates the client, sends nothing over it and does not change it.
 */
export interface RedisClient {
  readonly isCluster: boolean;
  readonly options: object;
  /** Creates another client with the same settings, some of which the arguments replace. */
  duplicate(...args: never[]): unknown;
}

/** The options of {@link openClient}. Exactly one of `client` and `url` must be given. */
export interface ClientOptions {
  /** The user's client of ioredis 5.8 or later: a `Redis`, with or without Sentinels, or a `Cluster`. */
  readonly client?: RedisClient | undefined;
  /** The URL of a single server: `redis://` or `rediss://`, with credentials and database. */
  readonly url?: string | undefined;
  /** The function of the user's call, for messages: `redisStore` or `leasedStore`. */
  readonly caller: string;
  /** The client's own script. Every server loads it before its first call. */
  readonly script: Script;
  /** Called at each change of state; of more than four in ten seconds only for the last. It must not throw. */
  readonly onChange?: ((change: ConnectionChange) => void) | undefined;
  /** The time of deadlines, to which the servers' clocks are compared. Default: the process's own. */
  readonly time?: Time | undefined;
}

/**
 * Opens a connection with the settings of the user's client or by a URL. It connects at once, reconnects until it is
 * closed, and keeps the process alive until then.
 *
 * @throws {SluiceError} `ERR_OPTION` if not exactly one of `client` and `url` is given, or if the given one is wrong.
 */
export function openClient({
  client,
  url,
  caller,
  script,
  onChange = () => {},
  time = systemTime,
}: ClientOptions): ScriptClient {
  const own = connectionFor({ client, url, caller });
  const parts: ClientParts = {
    script,
    time,
    counts: createCounts(),
  };
  return new DeadlinedClient({
    ...parts,
    onChange,
    createServers(onServerChange) {
      if (own.isCluster) return new ClusterServers(own.connection, parts, onServerChange);
      return new SingleServer(own.connection, parts, onServerChange);
    },
  });
}

function connectionFor({ client, url, caller }: Pick<ClientOptions, 'client' | 'url' | 'caller'>): OwnConnection {
  if (client !== undefined && url === undefined) return duplicateClient(client);
  if (url !== undefined && client === undefined) return connectByUrl(url);
  const [given, remedy] =
    client === undefined
      ? ['neither was', `For example ${caller}({ url: 'redis://127.0.0.1:6379' }).`]
      : ['both were', 'Leave one out.'];
  throw new SluiceError('ERR_OPTION', `\`client\` or \`url\` must be given, but ${given}. ${remedy}`);
}

/** A connection of the store. It connects by itself, and has a listener for its `error` events. */
type OwnConnection =
  | { readonly isCluster: false; readonly connection: Connection }
  | { readonly isCluster: true; readonly connection: ClusterConnection };

/**
 * Opens a connection to the server of a user's client. It keeps the client's options for address, TLS and credentials,
 * and replaces `keyPrefix` and all options for the sending of commands.
 *
 * @throws {SluiceError} `ERR_OPTION` if `client` is not a client of ioredis, or if its `db` is not a whole number.
 */
function duplicateClient(client: RedisClient): OwnConnection {
  if (!isIoredis(client)) throw noClient(client);
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => unknown;
  if (clusterFlagOf(client) === false) {
    checkDatabase((client.options as { db?: unknown }).db);
    return { isCluster: false, connection: addErrorListener(duplicate(singleOptions()) as Connection) };
  }
  const { redisOptions } = client.options as { redisOptions?: object | null };
  return {
    isCluster: true,
    connection: addErrorListener(duplicate([], clusterOptions(redisOptions)) as ClusterConnection),
  };
}

/**
 * Opens a connection to the server of a URL.
 *
 * @throws {SluiceError} `ERR_OPTION` if it is not a `redis://` or `rediss://` URL, or if its database is not a number.
 */
function connectByUrl(url: string): OwnConnection {
  if (!isRedisUrl(url)) throw noUrl(url);
  // This client never connects. It only parses the URL, and is then duplicated like a client of the user.
  return duplicateClient(new Redis(url, { lazyConnect: true }));
}

// For a `db` that is not a number, ioredis leaves a promise rejection unhandled, which ends the process.
function checkDatabase(db: unknown): void {
  if (db === undefined || db === null || Number.isSafeInteger(db)) return;
  const remedy = 'Correct the database of the client, or the path of the URL: redis://host/2.';
  throw complaint('ERR_OPTION', { option: 'db', demand: 'a whole number from 0', value: db, remedy });
}

// An 'error' event without a listener would end the process.
function addErrorListener<T extends { on(event: 'error', listener: () => void): unknown }>(connection: T): T {
  connection.on('error', () => {});
  return connection;
}

/** Whether a value is a client of ioredis. */
export function isIoredis(client: unknown): client is RedisClient {
  if (typeof client !== 'object' || client === null) return false;
  const { duplicate, options } = client as Partial<RedisClient>;
  return clusterFlagOf(client) !== undefined && typeof duplicate === 'function' && typeof options === 'object';
}

function noClient(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'client',
    demand: 'a client of ioredis 5.8 or later: a Redis or a Cluster',
    // The message shows only the class of the value, because its fields may contain a password.
    value: isNodeRedis(value) ? 'a client of node-redis' : kindOf(value),
    remedy: isNodeRedis(value)
      ? 'Sluice needs ioredis: install it and give new Redis(…), or give a `url`.'
      : 'Install ioredis and give new Redis(…), or give a `url`.',
  });
}

/** Whether a value has the methods of a client of the package `redis`, with or without a cluster. */
function isNodeRedis(value: unknown): boolean {
  const { sendCommand, duplicate, isOpen } = (value ?? {}) as Record<string, unknown>;
  return typeof sendCommand === 'function' && typeof duplicate === 'function' && typeof isOpen === 'boolean';
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const { name } = (Object.getPrototypeOf(value) as object | null)?.constructor ?? Object;
  return `an object of ${name}`;
}

/**
 * Removes credentials from text that may be a malformed URL. The query is removed too, because ioredis reads options
 * from it, such as a password.
 */
function withoutCredentials(url: string): string {
  return url.replace(/\?.*$/s, '?…').replace(/^([a-z]+:\/\/)?.*@/is, '$1…@');
}

function isRedisUrl(url: unknown): boolean {
  return typeof url === 'string' && /^rediss?:\/\/./.test(url) && URL.canParse(url);
}

function noUrl(url: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'url',
    demand: 'a URL that begins with redis:// or rediss://',
    // A password must not reach a log.
    value: typeof url === 'string' ? withoutCredentials(url) : typeof url,
    remedy: 'For a cluster, Sentinels or a socket make a client with ioredis and give it as `client`.',
  });
}
