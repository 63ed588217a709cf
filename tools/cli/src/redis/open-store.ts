import type { Store } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { clientOf, type Client } from './client.ts';
import { redisListing, tableListing, type Listing } from './listing.ts';
import { keyOptionsOf, timeoutOf, type KeyOptions } from './options.ts';

/** The store of the command line. */
export interface OpenStore {
  readonly store: Store;
  /** Of a store in Redis: not connected yet. */
  readonly client: Client | undefined;
  /** How its buckets are found; undefined if it has only hashes of ids. */
  readonly listing: Listing | undefined;
  /** Of a store in Redis: the options that determine its keys. */
  readonly keyOptions: KeyOptions;
  /**
   * Waits until the store answers.
   *
   * @throws {SluiceError} If it does not within `--timeout`.
   * @throws {CommandError} If it answers, and has no buckets.
   */
  readonly ready: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens the store of the command line, whose servers have it: tables and sockets are not made. */
export async function openStore(call: Call): Promise<OpenStore> {
  const address = storeAddressOf(call);
  if (address?.startsWith('host:') === true) return openHost(call, address.slice('host:'.length));
  if (address !== undefined && /^postgres(?:ql)?:/.test(address)) return openPostgres(call, address);
  if (servedAt(call) !== undefined) {
    throw new UsageError(
      'A service (`--store serve:`) does not list its buckets. Name its store, for example --redis redis://127.0.0.1:6379. For one bucket, use sluice peek.',
    );
  }
  return openRedis(call, address);
}

/** Returns the address of `--store` or the environment: a server that the line names goes before the environment. */
export function storeAddressOf(call: Call): string | undefined {
  const given = call.text('store');
  const isRedis = call.text('redis') !== undefined || call.texts('sentinel').length > 0;
  if (given !== undefined && isRedis) {
    throw new UsageError('Only one of `--store` and `--redis` or `--sentinel` may be given. Leave one out.');
  }
  const address = given ?? (isRedis ? undefined : call.console.terminal.env['SLUICE_STORE']);
  if (address === undefined || /^(?:rediss?|postgres(?:ql)?|host|serve):/.test(address)) return address;
  throw new UsageError(
    '`--store` must be a URL that begins with redis://, rediss:// or postgres://, host: and the path of a socket, or serve: and the address of a service. For example --store host:/run/app.sock.',
  );
}

/** Returns where the service of the command line is, without `serve:`; undefined if it names a store. */
export function servedAt(call: Call): string | undefined {
  const address = storeAddressOf(call);
  return address?.startsWith('serve:') === true ? address.slice('serve:'.length) : undefined;
}

async function openRedis(call: Call, url: string | undefined): Promise<OpenStore> {
  const keyOptions = await keyOptionsOf(call);
  const client = clientOf(call, url);
  // A denial is not remembered: a command shows what Redis has now.
  const store = redisStore({ client, ...keyOptions, rememberDenialsMs: 0, log: false });
  const close = (): Promise<void> => store.close().finally(() => client.disconnect());
  const listing = redisListing(client, keyOptions);
  return { store, client, keyOptions, listing, ready: () => store.ready({ timeoutMs: timeoutOf(call) }), close };
}

async function openPostgres(call: Call, connectionString: string): Promise<OpenStore> {
  const { postgresStore } = await import('@sluice/postgres');
  const table = call.text('table') ?? 'sluice';
  const timeoutMs = timeoutOf(call);
  const store = postgresStore({ connectionString, migrate: false, keepConnected: false, table });
  const listing = tableListing({ connectionString, table, timeoutMs });
  const ready = (): Promise<void> => store.ready({ timeoutMs });
  return { store, client: undefined, keyOptions: {}, listing, ready, close: () => store.close() };
}

async function openHost(call: Call, socket: string): Promise<OpenStore> {
  const { hostStore } = await import('@sluice/host');
  const store = hostStore({ socket, log: false });
  const ready = async (): Promise<void> => {
    await store.ready({ timeoutMs: timeoutOf(call) });
    if (store.status().role !== 'serving') return;
    // What another process has handed over, this one hands over again.
    const path = /\.\d+$/.test(socket) ? 'path, which has no number at its end,' : 'path';
    throw new CommandError(
      `No process serves the buckets of ${socket}. Start one of yours, or correct the ${path} in \`--store\`.`,
    );
  };
  return { store, client: undefined, keyOptions: {}, listing: undefined, ready, close: () => store.close() };
}
