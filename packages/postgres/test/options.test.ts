import { postgresStore, schemaSql } from '@sluice/postgres';
import { readFileSync } from 'node:fs';
import { Client, Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { spend, token } from './support.ts';

const SECRET = 'hunter2';
const pool = new Pool({ password: SECRET });
const wrong = (options: unknown): Error => {
  try {
    postgresStore(options as { pool: Pool });
  } catch (error) {
    return error as Error;
  }
  throw new Error('It was accepted.');
};

test.each([
  [{}, '`pool` or `connectionString` must be given, but neither was.'],
  [{ pool, connectionString: 'postgres://a' }, '`pool` or `connectionString` must be given, but both were.'],
  [{ pool: new Client({ password: SECRET }) }, '`pool` must be a `Pool` of pg 8, but was an object of Client.'],
  [{ pool: 7 }, '`pool` must be a `Pool` of pg 8, but was a number.'],
  [{ pool: null }, '`pool` must be a `Pool` of pg 8, but was null.'],
  [{ pool: { totalCount: 0 } }, '`pool` must be a `Pool` of pg 8, but was an object.'],
  [
    { connectionString: 7 },
    '`connectionString` must be a URL that begins with postgres:// or postgresql://, but was a number.',
  ],
  [{ connectionString: `mysql://${SECRET}@a` }, 'but was another text.'],
  [{ pool, table: 'Limits' }, '`table` must be up to 48 of a-z, 0-9 and _, not beginning with a digit'],
  [{ pool, table: 'a.b.c' }, '`table` must be'],
  [{ pool, table: 'x"; drop table users; --' }, '`table` must be'],
  [{ pool, table: 'x'.repeat(49) }, '`table` must be'],
  [{ pool, table: 7 }, '`table` must be'],
  [{ pool, logged: 'yes' }, '`logged` must be true or false'],
  [{ pool, migrate: 1 }, '`migrate` must be true or false'],
  [{ pool, time: {} }, '`time` must be an object with the methods nowMicros, wallNow, alarm, endOfTurn'],
  [{ pool, tabel: 'x' }, 'tabel'],
  [{ storeClient: pool }, '`storeClient` is `pool` here'],
  [{ pool, tableName: 'x' }, "`tableName` is `table` here, e.g. table: 'sluice'."],
  [{ pool, deadlineMs: 5 }, '`deadlineMs` belongs to the limiter here'],
  [{ host: 'localhost' }, '`host` is an option of the pool here'],
  [
    `postgres://user:${SECRET}@host`,
    'must be an object of options, but was text. Pass the URL as postgresStore({ connectionString }).',
  ],
  [pool, 'must be an object of options, but was a pool. Pass the pool as postgresStore({ pool }).'],
])('wrong options are an error: %#', (options, message) => {
  const error = wrong(options);
  expect(error.message).toContain(message);
  expect(error.message).not.toContain(SECRET);
  expect(error).toMatchObject({ name: 'SluiceError', kind: 'use' });
});

describe('the SQL of the tables', () => {
  const file = readFileSync(new URL('../sql/schema.sql', import.meta.url), 'utf8');
  const statements = (sql: string): string => sql.replace(/^\s*--.*$/gm, '');

  test('is the file that is shipped, with quoted names', () => {
    expect(statements(schemaSql()).replaceAll(/"(sluice\w*)"/g, '$1')).toBe(statements(file));
  });

  test('has the names of another table in all places', () => {
    const sql = statements(schemaSql({ table: 'limits.user' }));
    expect(sql).not.toMatch(/sluice/);
    expect(sql).toContain('create unlogged table if not exists "limits"."user" (');
    expect(sql).toContain('"limits"."user_slots"');
    expect(sql).toContain('function "limits"."user_run_v2"(');
  });

  test('makes tables that survive a crash on request', () => {
    expect(statements(schemaSql({ logged: true }))).not.toContain('unlogged');
  });

  test.each([{ table: '' }, { logged: 1 }, { tables: 'x' }])('rejects %j', (options) => {
    expect(() => schemaSql(options as object)).toThrow(expect.objectContaining({ name: 'SluiceError' }) as Error);
  });
});

test('a server that can’t be reached is an error that says what to check', async () => {
  const store = postgresStore({ connectionString: 'postgres://127.0.0.1:1/shop' });
  onTestFinished(() => store.close());
  await expect(spend(store, [token('x')])).rejects.toThrow(
    /ECONNREFUSED.* Check that it runs and that the address of the pool is right: /,
  );
});
