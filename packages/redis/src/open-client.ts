import { SluiceError, type Time } from '@sluice/core';
import { classInWords, complaint, systemTime } from '@sluice/core/kit';
import type { ConnectionChange } from './client/connection-status.ts';
import { DeadlinedClient } from './client/deadlined-client.ts';
import type { ScriptClient } from './client/script-client.ts';
import type { Script } from './client/script.ts';
import { createCounts, type ClientParts } from './client/script-servers.ts';
import { connectIoredis, duplicateIoredis, isIoredis, type IoredisClient } from './ioredis/duplicate.ts';
import {
  duplicateNodeRedis,
  isNodeRedis,
  isNodeRedisCluster,
  isNodeRedisSentinel,
  type NodeRedisClient,
} from './node-redis/duplicate.ts';
import { ioredisOptionsOf } from './node-redis/sentinel-options.ts';
import type { ClusterConnection } from './servers/cluster-connection.ts';
import { ClusterServers } from './servers/cluster-servers.ts';
import type { Connection } from './servers/connection.ts';
import { SingleServer } from './servers/single-server.ts';

/**
 * The part of a client that the store uses: of ioredis 5.8 or later, of iovalkey, or of node-redis 6 (the packages
 * `redis` and `@redis/client`). The store duplicates the client, sends nothing over it and does not change it.
 */
export type RedisClient = IoredisClient | NodeRedisClient;

/** The options of {@link openClient}. Exactly one of `client` and `url` must be given. */
export interface ClientOptions {
  /** The user's client. */
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
  const own = connectionFor({ client, url, caller }, time);
  const parts: ClientParts = {
    script,
    time,
    counts: createCounts(),
  };
  return new DeadlinedClient({
    ...parts,
    onChange,
    createServers(onServerChange) {
      if (own.isCluster) return new ClusterServers(own, parts, onServerChange);
      return new SingleServer(own, parts, onServerChange);
    },
  });
}

/** Whether a value is a client of a kind that the store can duplicate. */
export function isClient(value: unknown): value is RedisClient {
  return typeof value === 'object' && value !== null && (isIoredis(value) || isNodeRedis(value));
}

/** Whether a client is for a cluster. */
export function isForCluster(client: RedisClient): boolean {
  return isIoredis(client) ? client.isCluster : isNodeRedisCluster(client);
}

/** A connection of the store. It connects by itself. */
type OwnConnection = Connection | ClusterConnection;

type Given = Pick<ClientOptions, 'client' | 'url' | 'caller'>;

function connectionFor({ client, url, caller }: Given, time: Time): OwnConnection {
  if (client !== undefined && url === undefined) return duplicateClient(client, time);
  if (url !== undefined && client === undefined) return connectByUrl(url);
  const [given, remedy] =
    client === undefined
      ? ['neither was', `For example ${caller}({ url: 'redis://127.0.0.1:6379' }).`]
      : ['both were', 'Leave one out.'];
  throw new SluiceError('ERR_OPTION', `\`client\` or \`url\` must be given, but ${given}. ${remedy}`);
}

/** @throws {SluiceError} `ERR_OPTION` if it is not a client, or if it can't be duplicated. */
function duplicateClient(client: RedisClient, time: Time): OwnConnection {
  if (!isClient(client)) throw noClient(client);
  if (isIoredis(client)) return duplicateIoredis(client);
  return isNodeRedisSentinel(client) ? connectIoredis(ioredisOptionsOf(client)) : duplicateNodeRedis(client, time);
}

/** @throws {SluiceError} `ERR_OPTION` if it is not a `redis://` or `rediss://` URL, or if its database is not a number. */
function connectByUrl(url: string): OwnConnection {
  if (!isRedisUrl(url)) throw noUrl(url);
  return connectIoredis(url);
}

function noClient(value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'client',
    demand: 'a client of ioredis 5.8 or later, of iovalkey, or of node-redis 6',
    // The message shows only the class of the value, because its fields may contain a password.
    value: classInWords(value),
    remedy: 'For example client: new Redis(…) of ioredis, or client: createClient(…) of node-redis. Or give a `url`.',
  });
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
    remedy: 'For a cluster, Sentinels or a socket make a client and give it as `client`.',
  });
}
