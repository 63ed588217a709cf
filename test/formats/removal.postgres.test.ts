import { postgresStore } from '@sluice/postgres';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { textOf } from './changed-text.ts';

test('the SQL of the page on upgrading leaves nothing in PostgreSQL, and processes that run make all of it again', async () => {
  const [, sql] = /```sql\n([^`]+)```/.exec(textOf('docs/upgrading.md'))!;
  const server = await postgresServer();
  await server.query('create database removal');
  const pool = new Pool({ connectionString: server.url.replace(/\w+$/, 'removal'), max: 2 });
  const store = postgresStore({ pool });
  await store.migrate();
  const named =
    "select relname as name from pg_class where relname ~ '^sluice' union select proname from pg_proc where proname ~ '^sluice'";
  expect((await pool.query(named)).rows.length).toBeGreaterThanOrEqual(4);
  await pool.query(sql!);
  expect((await pool.query(named)).rows).toEqual([]);
  await store.ready();
  expect((await pool.query(named)).rows.length).toBeGreaterThanOrEqual(4);
  await store.close();
  await pool.end();
});
