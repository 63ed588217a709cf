import { complaint } from '@sluice/core/kit';
import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import type { ClusterConnection } from '../servers/cluster-connection.ts';
import type { Connection } from '../servers/connection.ts';
import { clusterOptions, singleOptions } from './connection-options.ts';
import { IoredisCluster } from './ioredis-cluster.ts';
import { IoredisConnection } from './ioredis-connection.ts';
import { clusterFlagOf } from './private-names.ts';

/** The part of a client of ioredis or iovalkey that the store uses: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  readonly isCluster: boolean;
  readonly options: object;
  /** Creates another client with the same settings, some of which the arguments replace. */
  duplicate(...args: never[]): unknown;
}

/** Options of a `Redis`. `replyMapping` is one of the store's own, and its type differs between the versions. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping'>;

/** Whether a value is a client of ioredis, or of iovalkey, which has the same methods. */
export function isIoredis(client: object): client is IoredisClient {
  const { duplicate, options } = client as Partial<IoredisClient>;
  return clusterFlagOf(client) !== undefined && typeof duplicate === 'function' && typeof options === 'object';
}

/**
 * Opens a connection to the server of a user's client. It keeps the client's options for address, TLS and credentials,
 * and replaces `keyPrefix` and all options for the sending of commands.
 *
 * @throws {SluiceError} `ERR_OPTION` if the `db` of the client is not a whole number.
 */
export function duplicateIoredis(client: IoredisClient): Connection | ClusterConnection {
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => unknown;
  if (clusterFlagOf(client) === false) {
    checkDatabase((client.options as { db?: unknown }).db);
    return new IoredisConnection(addErrorListener(duplicate(singleOptions()) as Redis));
  }
  const { redisOptions } = client.options as { redisOptions?: object | null };
  return new IoredisCluster(addErrorListener(duplicate([], clusterOptions(redisOptions)) as Cluster));
}

/**
 * Opens a connection to the server of a URL or of options, which may be those of Sentinels.
 *
 * @throws {SluiceError} `ERR_OPTION` if the database is not a whole number.
 */
export function connectIoredis(server: string | ServerOptions): Connection | ClusterConnection {
  // This client never connects. It is duplicated like a client of the user.
  const options = { lazyConnect: true };
  return duplicateIoredis(
    typeof server === 'string' ? new Redis(server, options) : new Redis({ ...server, ...options }),
  );
}

// For a `db` that is not a number, ioredis leaves a promise rejection unhandled, which ends the process.
function checkDatabase(db: unknown): void {
  if (db === undefined || db === null || Number.isSafeInteger(db)) return;
  const remedy = 'Correct the database of the client, or the path of the URL: redis://host/2.';
  throw complaint('ERR_OPTION', { option: 'db', demand: 'a whole number from 0', value: db, remedy });
}

// An 'error' event without a listener would end the process.
function addErrorListener<T extends Redis | Cluster>(client: T): T {
  client.on('error', () => {});
  return client;
}
