import { postgresStore, type PostgresPool } from '@sluice/postgres';
import { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { postgresServer, type PostgresServer } from '../../../test/postgres/postgres-server.ts';
import { BURST, outcomesOf, recovered, sceneOn } from '../../../test/postgres/scene.ts';
import { steeredDatabase } from '../../../test/postgres/steered-database.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { spend, storeOn, takenOf, token } from './support.ts';

describe('a connection', () => {
  test('that was cut while nobody used it is replaced', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    expect(await outcomesOf(scene, 10)).toEqual({ allowed: 10 });
    await cutAll(server);
    expect(await recovered(scene)).toBeGreaterThanOrEqual(BURST - 12);
  });

  test('that is cut during a call fails that call, and is replaced', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    await spend(scene.store, [token('x')]);
    const release = await lock(server, scene.table, 'Tokens:x');
    const outcome = spend(scene.store, [token('x')]).catch((error: unknown) => error);
    await until('it waits for the lock', async () => (await waiting(server)) > 0);
    await cutAll(server, "wait_event_type = 'Lock'");
    expect(await outcome).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    await release();
    await spend(scene.store, [token('x')]);
    expect(await takenOf(scene.store, 'x')).toBe(2);
  });
});

test('while others use all clients of the pool, decisions wait until their deadline, and no client is lost', async () => {
  const server = await postgresServer();
  const scene = await sceneOn(server);
  const others = await Promise.all(Array.from({ length: 3 }, () => scene.pool.connect()));
  expect(await outcomesOf(scene, 20)).toEqual({ unavailable: 20 });
  for (const other of others) other.release();
  expect(await recovered(scene)).toBe(BURST - 1);
});

test('a bucket that another transaction has locked fails at the deadline, and others are decided after it', async () => {
  const server = await postgresServer();
  const scene = await sceneOn(server);
  await spend(scene.store, [token('locked'), token('free')]);
  const release = await lock(server, scene.table, 'Tokens:locked');
  await expect(spend(scene.store, [token('locked')], 100)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  // The lock is still held.
  await until('the server has ended the wait itself', async () => (await waiting(server)) === 0);
  await spend(scene.store, [token('free')]);
  await release();
  await spend(scene.store, [token('locked')]);
  expect(await Promise.all(['locked', 'free'].map((id) => takenOf(scene.store, id)))).toEqual([2, 2]);
});

test('a store with a connection string has a pool of its own, and closes it', async () => {
  const server = await postgresServer();
  const store = postgresStore({ connectionString: server.url, table: server.newTable() });
  await store.ready();
  const ownOf = () => server.query("select pid from pg_stat_activity where application_name = 'sluice'");
  expect(await ownOf()).toHaveLength(1);
  await spend(store, [token('x')]);
  await store.close();
  await until('its connection is closed', async () => (await ownOf()).length === 0);
});

test.each([
  [
    'a database that does not exist',
    'postgres://postgres@HOST/nothing',
    /database "nothing" does not exist.*Create it/,
  ],
  ['a user that does not exist', 'postgres://nobody@HOST/postgres', /role "nobody" does not exist.*pg_hba.conf/],
])('%s is named by ready', async (_name, url, message) => {
  const server = await postgresServer();
  const store = postgresStore({ connectionString: url.replace('HOST', `127.0.0.1:${server.port}`) });
  await expect(store.ready({ timeoutMs: 1500 })).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringMatching(message) as string,
  });
  await expect(store.migrate()).rejects.toMatchObject({ message: expect.stringMatching(message) as string });
  await store.close();
});

test('ready ends when the store is closed', async () => {
  const store = postgresStore({ connectionString: 'postgres://postgres@127.0.0.1:1/postgres' });
  const outcome = store.ready().catch((error: unknown) => error);
  await store.close();
  expect(await outcome).toMatchObject({ code: 'ERR_CLOSED' });
  await expect(store.ready()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

test('a pool that has ended is an error of the store', async () => {
  const server = await postgresServer();
  const pool = new Pool({ connectionString: server.url });
  await pool.end();
  const store = postgresStore({ pool });
  await expect(spend(store, [token('x')])).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringContaining('Cannot use a pool after calling end') as string,
  });
  await store.close();
});

test('a pool that lends no client is an error of its user', async () => {
  const pool = { totalCount: 0, connect: () => Promise.resolve() } as unknown as PostgresPool;
  const store = postgresStore({ pool });
  await expect(store.ready()).rejects.toMatchObject({ code: 'ERR_OPTION' });
  await store.close();
});

test('a malformed answer is ERR_STORE_ANSWER', async () => {
  const server = await postgresServer();
  const table = server.newTable();
  const store = storeOn(server, { table });
  await spend(store, [token('x')]);
  await server.query(
    `create or replace function ${table}_run_v2(wait_ms integer, locks boolean, keys text[], program bigint[], holders text[])
     returns text language sql as $$ select 'nonsense' $$`,
  );
  await expect(spend(store, [token('x')])).rejects.toMatchObject({ code: 'ERR_STORE_ANSWER' });
});

test('a clock that never stops jumping ahead lets calls miss their deadline', async () => {
  const database = await steeredDatabase(await postgresServer());
  await database.pool
    .query(`create or replace function steered.clock_timestamp() returns timestamptz language sql volatile
    as 'update steered.clock set at = at + interval ''10 s'' returning at'`);
  const store = postgresStore({ pool: database.pool });
  await expect(spend(store, [token('x')], 1000)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  expect(store.status().counts.expired).toBe(2);
  await store.close();
});

test('calls that missed their deadline while they waited for a connection are not executed later', async () => {
  const server = await postgresServer();
  const scene = await sceneOn(server);
  const others = await Promise.all(Array.from({ length: 3 }, () => scene.pool.connect()));
  for (let round = 0; round < 3; round++) {
    const calls = Array.from({ length: 1500 }, () => spend(scene.store, [token('x')], 20));
    // oxlint-disable-next-line no-await-in-loop -- one round after the other
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  }
  for (const other of others) other.release();
  await spend(scene.store, [token('x')]);
  expect(await takenOf(scene.store, 'x')).toBe(1);
});

/** Locks a row, and returns a function that ends the lock. */
async function lock(server: PostgresServer, table: string, key: string): Promise<() => Promise<void>> {
  const client = await server.pool.connect();
  await client.query('begin');
  const { rowCount } = await client.query(`select 1 from ${table} where key = $1 for update`, [key]);
  expect(rowCount).toBe(1);
  return async () => {
    await client.query('rollback');
    client.release();
  };
}

async function waiting(server: PostgresServer): Promise<number> {
  const [row] = await server.query("select count(*)::int from pg_stat_activity where wait_event_type = 'Lock'");
  return row!.count as number;
}

/** Ends connections as an administrator does. */
async function cutAll(server: PostgresServer, condition = 'true'): Promise<void> {
  await server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where backend_type = 'client backend' and pid <> pg_backend_pid() and ${condition}`,
  );
}
