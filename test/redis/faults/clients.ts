import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';

type ClientOptions = Pick<
  RedisOptions,
  'enableOfflineQueue' | 'maxRetriesPerRequest' | 'commandTimeout' | 'connectTimeout' | 'enableAutoPipelining'
>;

/** The client that an application hands to the store. */
export interface ClientKind {
  readonly name: string;
  readonly version: 5 | 6;
  readonly options: ClientOptions;
}

/** What an application sets that wants its commands to fail rather than wait. */
const STRICT: ClientOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 100,
  connectTimeout: 250,
  enableAutoPipelining: true,
};

/** ioredis 5 and 6, each as `new Redis(port)` makes it, and strict. */
export const CLIENT_KINDS: readonly ClientKind[] = [
  { name: 'defaults', version: 6, options: {} },
  { name: 'strict', version: 6, options: STRICT },
  { name: 'defaults', version: 5, options: {} },
  { name: 'strict', version: 5, options: STRICT },
];

/** Makes one for a server. */
export function clientOf({ version, options }: ClientKind, port: number): Redis {
  const Client = version === 6 ? Redis : (Redis5 as unknown as typeof Redis);
  const client = new Client({ ...options, port });
  // An application that does not listen gets the same lines on its console, and nothing else.
  client.on('error', () => {});
  return client;
}
