import type { StoreOperation } from '@sluice/core/store';
import { postgresStore, schemaSql, type MigrateOptions, type PostgresStore } from '@sluice/postgres';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { spend, storeOn, takenOf, token, TOKEN } from './support.ts';

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
  await expect(forbidden.ready()).rejects.toEqual(schemaError(`its function "${table}_sweep_v1" is missing`));
  await storeOn(server, { table }).ready();
  await forbidden.ready();
});

test('a missing table of slots is created again, and named where it may not be', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`drop table ${table}_slots`);
  const forbidden = storeOn(server, { table, migrate: false });
  await expect(forbidden.ready()).rejects.toEqual(schemaError(`the table "${table}_slots" is missing`));
  await storeOn(server, { table }).ready();
  await forbidden.ready();
});

test('a function that has lost its comment is made again, or named where it may not be', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`comment on function ${table}_run_v2 is null`);
  const forbidden = storeOn(server, { table, migrate: false });
  await expect(forbidden.ready()).rejects.toEqual(schemaError(`its function "${table}_run_v2" has no comment`));
  await storeOn(server, { table }).ready();
  await forbidden.ready();
});

test.each(['run_v2', 'sweep_v1'])(
  'another function named %s is an error with its name, and is not replaced',
  async (name) => {
    const table = server.newTable();
    await storeOn(server, { table }).migrate();
    await server.query(`comment on function ${table}_${name} is 'Sluice, fingerprint 0123456789abcdef'`);
    const other = schemaError(
      `its function "${table}_${name}" is another one`,
      '0123456789abcdef',
      `drop function "${table}_${name}"`,
    );
    const store = storeOn(server, { table });
    await expect(store.ready()).rejects.toEqual(other);
    await expect(store.migrate()).rejects.toEqual(other);
    await expect(storeOn(server, { table, migrate: false }).ready()).rejects.toEqual(other);
    await server.query(`drop function ${table}_${name}`);
    await storeOn(server, { table }).ready();
  },
);

/** The functions of a table, by their names without that of the table. */
async function functionsOf(table: string): Promise<readonly string[]> {
  const text = 'select proname from pg_proc where starts_with(proname, $1) order by proname';
  const rows = await server.query(text, [`${table}_`]);
  return rows.map(({ proname }) => String(proname).slice(table.length + 1));
}

test('functions of earlier versions stay, until `dropOld` drops them', async () => {
  const table = server.newTable();
  await server.query(`create function ${table}_run_v1(x integer) returns integer language sql as 'select 1'`);
  const store = storeOn(server, { table, migrate: false });
  await store.migrate();
  expect(await functionsOf(table)).toEqual(['run_v1', 'run_v2', 'sweep_v1']);
  await store.migrate({ dropOld: true });
  expect(await functionsOf(table)).toEqual(['run_v2', 'sweep_v1']);
  await store.migrate({ dropOld: true });
  await store.ready();
});

test.each([
  [{ dropOld: 1 }, /`dropOld` must be true or false/],
  [{ dropsOld: true }, /no option `dropsOld`/],
])('migrate rejects %j', async (options, message) => {
  await expect(storeOn(server).migrate(options as MigrateOptions)).rejects.toThrow(message);
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

/** A store of a user who is not the owner of its tables, with these permissions on both of them. */
async function storeOfGuest(user: string, permissions: string): Promise<{ readonly store: PostgresStore; pool: Pool }> {
  const table = `${user}_limits.buckets`;
  await server.query(`create schema ${user}_limits; create role ${user} login`);
  await storeOn(server, { table }).migrate();
  await server.query(`grant usage on schema ${user}_limits to ${user}`);
  await server.query(`grant ${permissions} on ${table}, ${table}_slots, ${table}_blocks to ${user}`);
  const pool = new Pool({ connectionString: server.url.replace('postgres@', `${user}@`), max: 1 });
  onTestFinished(() => pool.end());
  const store = postgresStore({ pool, table, migrate: false });
  onTestFinished(() => store.close());
  return { store, pool };
}

test('a user who is not the owner needs only USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on the tables', async () => {
  const { store, pool } = await storeOfGuest('guest', 'select, insert, update, delete');
  await store.ready();
  const bucket = { limit: 'Tokens', id: 'x' };
  const slots = { limit: 'Slots', id: 'x', slots: true, holder: 'h', expiryMs: 60_000, first: 1, count: 1 } as const;
  const holding = { holder: 'h', expiryMs: 60_000 };
  const slot = { ...slots, incrementTicks: 1, fitTicks: 1, capTicks: 1, mode: 'check-and-spend', holding } as const;
  const capped = { ...bucket, incrementTicks: TOKEN, capTicks: 10 * TOKEN };
  const operations: readonly StoreOperation[] = [
    { kind: 'spend', alternatives: [[token('x'), slot]] },
    { kind: 'check', alternatives: [[token('x')]] },
    { kind: 'charge', batch: [capped] },
    { kind: 'refund', batch: [capped] },
    { kind: 'cap', batch: [capped] },
    { kind: 'renew', batch: [slots] },
    { kind: 'release', batch: [slots] },
    { kind: 'reset', batch: [bucket] },
  ];
  // oxlint-disable-next-line no-await-in-loop -- in this order
  for (const operation of operations) await store.run(operation, 20_000);
  const block = { limit: 'Tokens', id: 'x', untilMs: 1, reason: 'r', by: 'b' };
  await store.blocks?.put([block], 0, 20_000);
  expect(await store.blocks?.delete([block], 20_000)).toEqual([block]);
  const swept = await pool.query('select guest_limits.buckets_sweep_v1(0, 64)');
  expect(swept.rowCount).toBe(1);
  expect(store.status()).toMatchObject({ state: 'up', lastError: undefined });
});

test('a missing permission is named by the error of a call', async () => {
  const { store } = await storeOfGuest('stranger', 'select');
  await expect(spend(store, [token('x')])).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringMatching(/permission denied for table buckets.*lacks a permission/) as string,
  });
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
  await server.query(`drop function ${table}_run_v2`);
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
