import type { RedisClient } from '@sluice/redis';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { createClient } from 'redis';

type ClientOptions = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout' | 'connectTimeout' | 'enableAutoPipelining'
>;

/** The client that an application hands to the store. */
export interface ClientKind {
  readonly library: string;
  readonly options: 'defaults' | 'strict';
  /** Makes one for a server. */
  open(port: number): ApplicationClient;
}

/** A client of an application, and how the application closes it. */
export interface ApplicationClient {
  readonly client: RedisClient;
  close(): void;
}

/** What an application sets that wants its commands to fail rather than wait. */
const STRICT: ClientOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 100,
  connectTimeout: 250,
  enableAutoPipelining: true,
};

/** Every library as it makes a client for a port, and ioredis 5 and 6 strict. */
export const CLIENT_KINDS: readonly ClientKind[] = [
  { library: 'ioredis 6', options: 'defaults', open: (port) => opened(new Redis(port)) },
  { library: 'ioredis 6', options: 'strict', open: (port) => opened(new Redis({ ...STRICT, port })) },
  { library: 'ioredis 5', options: 'defaults', open: (port) => opened(new Redis5(port)) },
  { library: 'ioredis 5', options: 'strict', open: (port) => opened(new Redis5({ ...STRICT, port })) },
  { library: 'iovalkey', options: 'defaults', open: (port) => opened(new Valkey(port)) },
  { library: 'node-redis 6', options: 'defaults', open: (port) => connected(createClient({ socket: { port } })) },
];

/** A client of ioredis or iovalkey, whose errors the application ignores. */
export function opened(
  client: RedisClient & { on(event: 'error', run: () => void): unknown; disconnect(): void },
): ApplicationClient {
  // An application that does not listen gets the same lines on its console, and nothing else.
  client.on('error', () => {});
  return { client, close: () => client.disconnect() };
}

/**
 * A client of node-redis, which connects, and whose errors the application ignores. Its type has only what is used here: the
 * compiler takes more than a minute to compare the types of node-redis themselves.
 */
export function connected(
  client: RedisClient & {
    on(event: 'error', run: () => void): unknown;
    connect(): Promise<unknown>;
    destroy(): void;
  },
): ApplicationClient {
  // Without a listener the first error would end the process.
  client.on('error', () => {});
  client.connect().catch(() => {});
  return { client, close: () => client.destroy() };
}
