import { postgresStore } from '@sluice/postgres';
import { expect, test } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { expectExactInTurns } from './store-comparison.ts';

test('all calls of one turn have the same results on PostgreSQL as in memory and by the exact rule', async () => {
  const server = await postgresServer();
  const store = postgresStore({ pool: server.pool, table: server.newTable() });
  await store.ready();
  await expectExactInTurns(store);
  const { batches, calls } = store.status().counts;
  // Those of a turn travel together.
  expect(calls).toBeLessThan(batches / 2);
  await store.close();
});
