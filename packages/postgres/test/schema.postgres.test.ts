import { postgresStore, schemaSql } from '@sluice/postgres';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { spend, storeOn, takenOf, token } from './support.ts';

const server = await postgresServer();
const schemaError = (...words: readonly string[]) =>
  expect.objectContaining({
    code: 'ERR_STORE_SCHEMA',
    kind: 'store',
    message: expect.stringMatching(new RegExp(words.join('.*'))) as string,
  }) as Error;

test('processes that start together create the tables once', async () => {
  const table = server.newTable();
  const stores = Array.from({ length: 8 }, () => storeOn(server, { table }));
  await Promise.all(stores.map((store) => store.ready()));
  await Promise.all(stores.map((store) => spend(store, [token('x')])));
  expect(await takenOf(stores[0]!, 'x')).toBe(8);
});

test('the tables may be in another schema, and have names that SQL reserves', async () => {
  await server.query('create schema if not exists "select"');
  const store = storeOn(server, { table: 'select.user' });
  await spend(store, [token('x')]);
  expect(await server.query('select key from "select"."user"')).toEqual([{ key: 'Tokens:x' }]);
});

test('the first call creates the tables, too', async () => {
  const store = storeOn(server);
  expect(store.status().state).toBe('connecting');
  await spend(store, [token('x')]);
  expect(store.status()).toMatchObject({ state: 'up', lastError: undefined });
});

test('with `migrate: false` missing tables are an error, until they are made', async () => {
  const table = server.newTable();
  const store = storeOn(server, { table, migrate: false });
  const missing = schemaError(`"${table}"`, 'does not exist', 'store.migrate\\(\\)');
  await expect(store.ready()).rejects.toEqual(missing);
  await expect(spend(store, [token('x')])).rejects.toEqual(missing);
  expect(store.status()).toMatchObject({ state: 'down', lastError: { cause: missing } });
  await store.migrate();
  await store.ready();
  await spend(store, [token('x')]);
});

test('the SQL of schemaSql does the same, and may be run again', async () => {
  const table = server.newTable();
  await server.query(schemaSql({ table }));
  await server.query(schemaSql({ table }));
  const store = storeOn(server, { table, migrate: false });
  await spend(store, [token('x')]);
  expect(await takenOf(store, 'x')).toBe(1);
});

test('a missing function is created again', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`drop function ${table}_sweep_v1`);
  const forbidden = storeOn(server, { table, migrate: false });
  await expect(forbidden.ready()).rejects.toEqual(schemaError('its functions are missing'));
  await storeOn(server, { table }).ready();
  await forbidden.ready();
});

test('a table of an older version is changed, or an error with `migrate: false`', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`comment on table ${table} is 'Buckets of Sluice, version 0'`);
  await expect(storeOn(server, { table, migrate: false }).ready()).rejects.toEqual(
    schemaError('it has version 0, and this package needs version 1'),
  );
  await storeOn(server, { table }).ready();
});

test('a table of a later version is an error, and stays as it is', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`comment on table ${table} is 'Buckets of Sluice, version 2'`);
  const later = schemaError('version 2', 'Update @sluice/postgres');
  const store = storeOn(server, { table });
  await expect(store.ready()).rejects.toEqual(later);
  await expect(store.migrate()).rejects.toEqual(later);
  const [row] = await server.query(`select obj_description('${table}'::regclass) as comment`);
  expect(row).toEqual({ comment: 'Buckets of Sluice, version 2' });
});

test('a table of another program is an error, and stays as it is', async () => {
  const table = server.newTable();
  await server.query(`create table ${table} (key text)`);
  await expect(storeOn(server, { table }).ready()).rejects.toEqual(schemaError('was not created by this package'));
  expect(await server.query(`select * from ${table}`)).toEqual([]);
});

test('an unlogged table is an error where `logged` is true, until it is changed', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  const store = storeOn(server, { table, logged: true });
  await expect(store.ready()).rejects.toEqual(schemaError('unlogged', 'set logged'));
  await server.query(`alter table ${table} set logged; alter table ${table}_slots set logged`);
  await store.ready();
  await storeOn(server, { table }).ready();
});

test('a schema that does not exist is named', async () => {
  const store = storeOn(server, { table: 'nowhere.buckets' });
  await expect(store.migrate()).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: 'PostgreSQL answered: schema "nowhere" does not exist.',
  });
});

test('without the permission to create tables, migrate rejects with the error of PostgreSQL', async () => {
  await server.query('create role reader login');
  await server.query('revoke create on schema public from public');
  const pool = new Pool({ connectionString: server.url.replace('postgres@', 'reader@'), max: 1 });
  onTestFinished(() => pool.end());
  const store = postgresStore({ pool, table: server.newTable() });
  await expect(store.migrate()).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining('permission denied') as string,
  });
  await store.close();
});

test('transactions of another isolation level are an error', async () => {
  const pool = new Pool({ connectionString: server.url, options: '-c default_transaction_isolation=serializable' });
  onTestFinished(() => pool.end());
  const store = postgresStore({ pool, table: server.newTable() });
  await expect(store.ready()).rejects.toEqual(schemaError('are serializable', 'alter role'));
  await store.close();
});

test('tables that were dropped are created again, and functions too', async () => {
  const table = server.newTable();
  const store = storeOn(server, { table });
  await spend(store, [token('x')]);
  await server.query(`drop table ${table}, ${table}_slots`);
  await spend(store, [token('x')]);
  await server.query(`drop function ${table}_run_v1`);
  await spend(store, [token('x')]);
  expect(await takenOf(store, 'x')).toBe(2);
});

test('tables that were dropped stay so with `migrate: false`', async () => {
  const table = server.newTable();
  const store = storeOn(server, { table, migrate: false });
  await store.migrate();
  await spend(store, [token('x')]);
  await server.query(`drop table ${table}, ${table}_slots`);
  await expect(spend(store, [token('x')])).rejects.toEqual(schemaError('does not exist'));
});
