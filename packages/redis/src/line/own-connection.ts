import type { SluiceError } from '@sluice/core';
import { complaint } from '@sluice/core/kit';
import { Redis } from 'ioredis';
import type { ClusterConnection, Connection } from './connection.ts';
import { clusterOptions, singleOptions } from './connection-options.ts';
import type { RedisClient } from './line.ts';

/** A connection of our own, which connects by itself and whose errors somebody hears. */
export type OwnConnection =
  | { readonly isCluster: false; readonly connection: Connection }
  | { readonly isCluster: true; readonly connection: ClusterConnection };

/**
 * Makes a connection of our own to where a client of the user leads. Of the client's options all stay that say where
 * and as whom to connect; `keyPrefix` and all that concerns the sending of commands does not.
 *
 * @throws {SluiceError} `ERR_OPTION` for what is no client of ioredis, or one for a database that can't be.
 */
export function besideClient(client: RedisClient): OwnConnection {
  if (!isIoredis(client)) throw noClient(client);
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => unknown;
  if (!client.isCluster) {
    checkDatabase((client.options as { db?: unknown }).db);
    return { isCluster: false, connection: heard(duplicate(singleOptions()) as Connection) };
  }
  const { redisOptions } = client.options as { redisOptions?: object | null };
  return { isCluster: true, connection: heard(duplicate([], clusterOptions(redisOptions)) as ClusterConnection) };
}

/**
 * Makes a connection by a URL.
 *
 * @throws {SluiceError} `ERR_OPTION` for another kind of URL.
 */
export function byUrl(url: string): OwnConnection {
  if (!isRedisUrl(url)) throw noUrl(url);
  // It never connects: it is what our options are put over, as over a client of the user.
  return besideClient(new Redis(url, { lazyConnect: true }));
}

// Of a number that is none ioredis lets a promise reject that nobody hears, which ends the process.
function checkDatabase(db: unknown): void {
  if (db === undefined || db === null || Number.isSafeInteger(db)) return;
  const remedy = 'Correct the database of the client, or the path of the URL: redis://host/2.';
  throw complaint('ERR_OPTION', { option: 'db', demand: 'a whole number from 0', value: db, remedy });
}

// An 'error' event that nobody hears would end the process.
function heard<T extends { on(event: 'error', listener: () => void): unknown }>(connection: T): T {
  connection.on('error', () => {});
  return connection;
}

/** Whether a value is a client of ioredis. */
export function isIoredis(client: unknown): client is RedisClient {
  if (typeof client !== 'object' || client === null) return false;
  const { isCluster, duplicate, options } = client as Partial<RedisClient>;
  return typeof isCluster === 'boolean' && typeof duplicate === 'function' && typeof options === 'object';
}

function noClient(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'client',
    demand: 'a client of ioredis 5.8 or later: a Redis or a Cluster',
    // Options may hold a password, which has no place in a log.
    value: kindOf(value),
    remedy: 'Install ioredis and give new Redis(…), or give a `url`.',
  });
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const { name } = (Object.getPrototypeOf(value) as object | null)?.constructor ?? Object;
  return `an object of ${name}`;
}

/** Also of what is no URL but was meant to be one. ioredis takes what stands behind a question mark for options. */
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
    // A password has no place in a log.
    value: typeof url === 'string' ? withoutCredentials(url) : typeof url,
    remedy: 'For a cluster, Sentinels or a socket make a client with ioredis and give it as `client`.',
  });
}
