import { createLimiter, everyone, type Limiter } from '@sluice/core';
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '@sluice/postgres';
import { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { until } from '../redis/servers/until.ts';
import type { PostgresServer } from './postgres-server.ts';

/** The tokens of a full bucket. */
export const BURST = 100;

export interface Scene {
  readonly pool: Pool;
  readonly table: string;
  readonly store: PostgresStore;
  readonly limiter: Limiter<'Shared'>;
}

/** A limiter on a pool of its own, which denies while PostgreSQL can't answer. */
export async function sceneOn(server: PostgresServer, options: Partial<PostgresStoreOptions> = {}): Promise<Scene> {
  const pool = new Pool({ connectionString: server.url, max: 3 });
  pool.on('error', () => {});
  const table = server.newTable();
  const store = postgresStore({ pool, table, ...options });
  const limiter = createLimiter({
    limits: { Shared: { key: everyone(), burst: BURST, count: 1, period: '30d' } },
    store,
    log: false,
    failure: { deadlineMs: 1000, onFailure: 'closed' },
  });
  onTestFinished(async () => {
    await limiter.close();
    await store.close();
    await pool.end();
  });
  await limiter.ready();
  return { pool, table, store, limiter };
}

/** Asks so many times at once, and counts the outcomes. */
export async function outcomesOf({ limiter }: Scene, count: number): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  const decisions = Array.from({ length: count }, () => limiter.spend([{ limit: 'Shared', id: 'everyone' }]));
  for (const { outcome } of await Promise.all(decisions)) found[outcome] = (found[outcome] ?? 0) + 1;
  return found;
}

/** Asks until PostgreSQL decides again, and returns how many tokens are left then. */
export async function recovered({ limiter, pool }: Scene): Promise<number> {
  let left = 0;
  await until('PostgreSQL decides again', async () => {
    const { failure, remaining } = await limiter.spend([{ limit: 'Shared', id: 'everyone' }]);
    left = remaining;
    return failure === undefined;
  });
  await until(
    'all clients are back in the pool, and none is waited for',
    () => pool.totalCount === pool.idleCount && pool.waitingCount === 0,
  );
  return left;
}
