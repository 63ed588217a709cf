import { createLimiter, everyone, type Limiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '@sluice/postgres';
import { execFileSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { spend, takenOf, token, TOKEN } from '../../packages/postgres/test/support.ts';
import { run } from '../redis/processes/run.ts';
import { until } from '../redis/servers/until.ts';
import { ownPostgresServer, postgresServer, type PostgresServer } from './postgres-server.ts';
import type { Hunted, HuntOrders } from './processes/hunt.mjs';
import { steeredDatabase } from './steered-database.ts';

const BURST = 100;

interface Scene {
  readonly pool: Pool;
  readonly store: PostgresStore;
  readonly limiter: Limiter<'Shared'>;
}

/** A limiter on a pool of its own, which denies while PostgreSQL can't answer. */
async function sceneOn(server: PostgresServer, options: Partial<PostgresStoreOptions> = {}): Promise<Scene> {
  const pool = new Pool({ connectionString: server.url, max: 3 });
  pool.on('error', () => {});
  const store = postgresStore({ pool, table: server.newTable(), ...options });
  const limiter = createLimiter({
    limits: { Shared: { key: everyone(), burst: BURST, count: 1, period: '30d' } },
    store,
    log: false,
    failure: { deadlineMs: 100, onFailure: 'closed' },
  });
  onTestFinished(async () => {
    await limiter.close();
    await store.close();
    await pool.end();
  });
  await limiter.ready();
  return { pool, store, limiter };
}

/** Asks so many times at once, and counts the outcomes. */
async function outcomesOf({ limiter }: Scene, count: number): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  const decisions = Array.from({ length: count }, () => limiter.spend([{ limit: 'Shared', id: 'everyone' }]));
  for (const { outcome } of await Promise.all(decisions)) found[outcome] = (found[outcome] ?? 0) + 1;
  return found;
}

/** Asks until PostgreSQL decides again, and returns how many tokens are left then. */
async function recovered({ limiter, pool }: Scene): Promise<number> {
  let left = 0;
  await until('PostgreSQL decides again', async () => {
    const { failure, remaining } = await limiter.spend([{ limit: 'Shared', id: 'everyone' }]);
    left = remaining;
    return failure === undefined;
  });
  await until('all clients are back in the pool', () => pool.totalCount === pool.idleCount);
  expect(pool.waitingCount).toBe(0);
  return left;
}

describe('while the server is stopped', () => {
  test('the policies decide, what was asked for is not taken when it goes on, and it decides again', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    expect(await outcomesOf(scene, 10)).toEqual({ allowed: 10 });
    server.freeze();
    expect(await outcomesOf(scene, 20)).toEqual({ unavailable: 20 });
    expect(await outcomesOf(scene, 20)).toEqual({ unavailable: 20 });
    // Its connection is closed, and another one is waited for.
    await until('the connection was given up', () => scene.store.status().counts.resets > 0);
    expect(await outcomesOf(scene, 20)).toEqual({ unavailable: 20 });
    server.thaw();
    // One for the recovery.
    expect(await recovered(scene)).toBe(BURST - 11);
  });

  test('a store that is closed ends all the same', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    server.freeze();
    const call = spend(scene.store, [token('x')], 200);
    await scene.store.close();
    await expect(call).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    server.thaw();
  });
});

test('in a restart the policies decide, and the buckets are as before', async () => {
  const server = await postgresServer();
  const scene = await sceneOn(server);
  expect(await outcomesOf(scene, 10)).toEqual({ allowed: 10 });
  await server.stop();
  expect(await outcomesOf(scene, 20)).toEqual({ unavailable: 20 });
  expect(scene.store.status()).toMatchObject({
    state: 'down',
    lastError: { cause: { code: 'ERR_STORE_UNAVAILABLE' } },
  });
  await server.start();
  expect(await recovered(scene)).toBe(BURST - 11);
  expect(scene.store.status().state).toBe('up');
});

test('a crash forgets unlogged buckets, and no others', async () => {
  const server = await postgresServer();
  const [unlogged, logged] = [await sceneOn(server), await sceneOn(server, { logged: true })];
  for (const scene of [unlogged, logged]) expect(await outcomesOf(scene, 10)).toEqual({ allowed: 10 });
  await server.stop('SIGQUIT');
  await server.start();
  expect(await recovered(unlogged)).toBe(BURST - 1);
  expect(await recovered(logged)).toBe(BURST - 11);
});

// Only root may mount.
test.skipIf(process.getuid?.() !== 0)(
  'while the disk is full, the policies decide where it is needed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', folder]);
    onTestFinished(() => {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    });
    const data = join(folder, 'data');
    execFileSync('mkdir', [data]);
    const server = await ownPostgresServer(['max_wal_size=32MB', 'min_wal_size=32MB'], data);
    const scene = await sceneOn(server);
    const filler = join(folder, 'filler');
    const write = (i: number): void => writeFileSync(`${filler}${i}`, Buffer.alloc(1_000_000));
    expect(() => Array.from({ length: 1000 }, (_, i) => write(i))).toThrow('ENOSPC');
    // New buckets need new pages.
    const many = (round: number) => Array.from({ length: 500 }, (_, i) => token(`${round}-${i}-${'x'.repeat(100)}`));
    const fillUp = async (): Promise<void> => {
      // oxlint-disable-next-line no-await-in-loop -- until one fails
      for (let round = 0; round < 100; round++) await spend(scene.store, many(round));
    };
    await expect(fillUp()).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/No space left on device.*Its disk is full/) as string,
    });
    execFileSync('sh', ['-c', `rm ${filler}*`]);
    await recovered(scene);
    await spend(scene.store, many(1000));
  },
  60_000,
);

describe('a connection', () => {
  test('that was cut while nobody used it is replaced', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server, { table: server.newTable() });
    expect(await outcomesOf(scene, 10)).toEqual({ allowed: 10 });
    await cutAll(server);
    expect(await recovered(scene)).toBeGreaterThanOrEqual(BURST - 12);
  });

  test('that is cut during a call fails that call, and is replaced', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    const table = tableOf(scene.store, server);
    await spend(scene.store, [token('x')]);
    const release = await lock(server, await table, 'Tokens:x');
    const call = spend(scene.store, [token('x')]);
    await until('it waits for the lock', async () => (await waiting(server)) > 0);
    await cutAll(server, "wait_event_type = 'Lock'");
    await expect(call).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    await release();
    await spend(scene.store, [token('x')]);
    expect(await takenOf(scene.store, 'x')).toBe(2);
  });

  test('that is not made does not keep a decision, nor a store that is closed', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const connectionString = `postgres://nobody@127.0.0.1:${port}/nothing`;
    const store = postgresStore({ connectionString });
    await expect(spend(store, [token('x')], 50)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    await expect(store.ready({ timeoutMs: 50 })).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('not ready within 50 ms') as string,
    });
    // A pool with its default settings would wait for ever.
    const pool = new Pool({ connectionString });
    const time = new FakeTime();
    const patient = postgresStore({ pool, time });
    for (let attempt = 0; attempt < 4; attempt++) {
      const outcome = spend(patient, [token('x')], 10_000).catch((error: unknown) => error);
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await until('it asks the pool, or not any more', () => pool.totalCount > attempt || attempt >= 2);
      // oxlint-disable-next-line no-await-in-loop
      await time.pass(2000);
      // oxlint-disable-next-line no-await-in-loop
      expect(await outcome).toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('no connection to PostgreSQL within 2000 ms') as string,
      });
    }
    // It does not use up the pool.
    expect(pool.totalCount).toBe(2);
    await Promise.all([store.close(), patient.close()]);
    silent.close();
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
  const release = await lock(server, await tableOf(scene.store, server), 'Tokens:locked');
  await expect(spend(scene.store, [token('locked')], 100)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  await spend(scene.store, [token('free')]);
  await release();
  await spend(scene.store, [token('locked')]);
  expect(await Promise.all(['locked', 'free'].map((id) => takenOf(scene.store, id)))).toEqual([2, 2]);
  // The server ended the wait itself.
  expect(scene.store.status().counts.resets).toBe(0);
});

test('a step of the clock of the server costs one statement, and no decision', async () => {
  const database = await steeredDatabase(await postgresServer());
  const store = postgresStore({ pool: database.pool, time: new FakeTime() });
  await spend(store, [token('x')], 100);
  await database.advance(10_000);
  await spend(store, [token('x')], 100);
  expect(store.status().counts).toMatchObject({ expired: 1, missed: 0 });
  await database.advance(-10_000);
  await spend(store, [token('x')], 100);
  expect(store.status().counts).toMatchObject({ expired: 1, missed: 0 });
  expect(await takenOf(store, 'x')).toBe(3);
  await store.close();
});

test('processes with overlapping batches in any order take exactly what there is, without a deadlock', async () => {
  const { SLUICE_HUNTERS: hunters = '3', SLUICE_HUNT_MS: lasts = '2000' } = process.env;
  const server = await postgresServer();
  const IDS = 4;
  const orders: HuntOrders = {
    url: server.url,
    table: server.newTable(),
    burst: 400,
    ids: IDS,
    lastsMs: Number(lasts),
    inFlight: 12,
  };
  const children = Array.from({ length: Number(hunters) }, () =>
    run('../../postgres/processes/hunt.mjs', [JSON.stringify(orders)]),
  );
  const next = async (child: ChildProcess): Promise<unknown> =>
    Promise.race([
      once(child, 'message').then(([message]: unknown[]) => message),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`A process ended with ${String(code)}.`))),
    ]);
  await Promise.all(children.map(next));
  const reports = children.map((child) => next(child) as Promise<Hunted>);
  for (const child of children) child.send('go');
  const seen = await Promise.all(reports);
  expect(seen.flatMap(({ failures }) => failures)).toEqual([]);
  const [row] = await server.query("select deadlocks::int from pg_stat_database where datname = 'postgres'");
  expect(row).toEqual({ deadlocks: 0 });
  expect(server.log).not.toContain('deadlock detected');
  const taken = Array.from({ length: IDS }, (_, id) => seen.reduce((sum, one) => sum + one.taken[id]!, 0));
  const left = await server.query(`select key, level from ${orders.table} where key like 'A:%' order by key`);
  const WEEK_TICKS = 7 * 24 * TOKEN;
  expect(left.map(({ level }) => Math.round(Number(level) / WEEK_TICKS))).toEqual(taken);
  expect(Math.max(...taken)).toBeLessThanOrEqual(400);
  expect(Math.min(...taken)).toBeGreaterThan(50);
});

/** The table of a store of these tests: the only one with a bucket, or the latest. */
async function tableOf(store: PostgresStore, server: PostgresServer): Promise<string> {
  await store.ready();
  const [row] = await server.query(
    "select relname from pg_class where relkind = 'r' and relname ~ '^buckets_[0-9]+$' order by oid desc limit 1",
  );
  return row!.relname as string;
}

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
