import type { Store } from '@sluice/core';
import type { StoreReading, StoreTransaction } from '@sluice/core/store';
import { callsOf } from '@sluice/core/testing';
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '@sluice/postgres';
import { onTestFinished } from 'vitest';
import type { PostgresServer } from '../../../test/postgres/postgres-server.ts';

/** A token that comes back after an hour. */
export const TOKEN = 3600 * 16_000_000;

/** A store on a server, with a table of its own unless one is named. The test closes it. */
export function storeOn(server: PostgresServer, options: Omit<PostgresStoreOptions, 'pool'> = {}): PostgresStore {
  const store = postgresStore({ pool: server.pool, table: server.newTable(), ...options });
  onTestFinished(() => store.close());
  return store;
}

/** A transaction that takes one of ten tokens, unless said otherwise. */
export function token(id: string, more: Partial<StoreTransaction> = {}): StoreTransaction {
  const capTicks = 10 * TOKEN;
  return { limit: 'Tokens', id, incrementTicks: TOKEN, fitTicks: capTicks, capTicks, mode: 'check-and-spend', ...more };
}

export function spend(store: Store, batch: readonly StoreTransaction[], deadlineMs = 20_000): Promise<StoreReading> {
  return callsOf(store).spend(batch, deadlineMs) as Promise<StoreReading>;
}

/** How many tokens of a bucket are taken. */
export async function takenOf(store: Store, id: string): Promise<number> {
  const reading = await (callsOf(store).check([token(id)], 20_000) as Promise<StoreReading>);
  return Math.ceil(reading.levelsTicks[0]! / TOKEN);
}
