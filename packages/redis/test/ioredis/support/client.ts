import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey';
import { createClient, createCluster, createSentinel } from 'redis';
// oxlint-disable-next-line import/no-unassigned-import -- ends what a test started, when it ends
import '../../../../../test/redis/servers/teardown.ts';
import { running } from '../../../../../test/redis/servers/running.ts';
import { until } from '../../../../../test/redis/servers/until.ts';
import { openClient, type ClientOptions, type RedisClient } from '../../../src/open-client.ts';
import type { ScriptClient } from '../../../src/client/script-client.ts';
import type { ScriptCall } from '../../../src/client/script.ts';
import type { ConnectionState } from '../../../src/client/connection-status.ts';
import { testScript, type Operation } from './scripts.ts';

/** Both versions of ioredis that a user may have, and its fork. */
export const VERSIONS = [
  { version: 'ioredis 6', Redis, Cluster },
  { version: 'ioredis 5', Redis: Redis5 as unknown as typeof Redis, Cluster: Cluster5 as unknown as typeof Cluster },
  {
    version: 'iovalkey',
    Redis: Valkey as unknown as typeof Redis,
    Cluster: ValkeyCluster as unknown as typeof Cluster,
  },
];

/** What the client of a test has for the server. */
interface Login {
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
}

/** Creates a client for a server, which never connects. */
type ClientTo = (port: number, login?: Login) => RedisClient;

/** Each kind of client that a user may have, with its defaults. */
export const CLIENTS: readonly { readonly name: string; readonly clientTo: ClientTo }[] = [
  { name: 'ioredis 6', clientTo: (port, login) => new Redis({ ...login, port, lazyConnect: true }) },
  { name: 'ioredis 5', clientTo: (port, login) => new Redis5({ ...login, port, lazyConnect: true }) },
  { name: 'iovalkey', clientTo: (port, login) => new Valkey({ ...login, port, lazyConnect: true }) },
  {
    name: 'node-redis 6',
    clientTo: (port, { db, ...login } = {}) => createClient({ ...login, ...databaseOf(db), socket: { port } }),
  },
];

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Creates a client for a cluster, which never connects. */
type ClusterTo = (addresses: readonly Address[]) => RedisClient;

/** Each kind of cluster client that a user may have, with its defaults. */
export const CLUSTERS: readonly { readonly name: string; readonly clusterTo: ClusterTo }[] = [
  ...VERSIONS.map(({ version, Cluster: Of }) => {
    return { name: version, clusterTo: (nodes: readonly Address[]) => new Of([...nodes], { lazyConnect: true }) };
  }),
  { name: 'node-redis 6', clusterTo: (nodes) => createCluster({ rootNodes: nodes.map((socket) => ({ socket })) }) },
];

/** Creates a client for the primary that Sentinels name, which never connects. */
type SentinelsTo = (set: { readonly addresses: readonly Address[]; readonly name: string }) => RedisClient;

/** Each kind of client for Sentinels that a user may have, with its defaults. */
export const SENTINELS: readonly { readonly name: string; readonly sentinelsTo: SentinelsTo }[] = [
  ...VERSIONS.map(({ version, Redis: Of }) => {
    return {
      name: version,
      sentinelsTo: ({ addresses, name }: Parameters<SentinelsTo>[0]) =>
        // The store connects to the primary even so.
        new Of({ sentinels: [...addresses], name, lazyConnect: true, role: 'slave' }),
    };
  }),
  {
    name: 'node-redis 6',
    sentinelsTo: ({ addresses, name }) => createSentinel({ sentinelRootNodes: [...addresses], name }),
  },
];

function databaseOf(db: number | undefined): { database?: number } {
  return db === undefined ? {} : { database: db };
}

/** Opens a script client that ends with the test. */
export function openScriptClient(options: Partial<ClientOptions>): ScriptClient {
  const scriptClient = openClient({ caller: 'redisStore', script: testScript, ...options });
  running.add({ close: () => scriptClient.close() });
  return scriptClient;
}

/** A client as a user makes it; it ends with the test. */
export function ended<T extends Redis | Cluster>(client: T): T {
  client.on('error', () => {});
  running.add({ close: async () => client.disconnect() });
  return client;
}

/** Waits until the script client is in a state. */
export async function isIn(state: ConnectionState, scriptClient: ScriptClient): Promise<void> {
  await until(`the script client is ${state}`, () => scriptClient.status().state === state, { everyMs: 2 });
}

export const isUp = (scriptClient: ScriptClient): Promise<void> => isIn('up', scriptClient);

/** A call as the store makes it. */
export function call(operation: Operation, { args = [], ...rest }: Partial<ScriptCall> = {}): ScriptCall {
  return { keys: ['key'], args: [operation, ...args], deadlineMs: 1000, ...rest };
}

/** The code of the error that a promise rejects with, and how long that took. */
export async function rejection(promise: Promise<unknown>): Promise<{ code: string; message: string; tookMs: number }> {
  const startMs = performance.now();
  try {
    await promise;
  } catch (error) {
    const { code = 'none', message } = error as Error & { code?: string };
    return { code, message, tookMs: performance.now() - startMs };
  }
  throw new Error('It was expected to reject, and did not.');
}
