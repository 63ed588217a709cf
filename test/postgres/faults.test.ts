import { FakeTime } from '@sluice/core/testing';
import { postgresStore } from '@sluice/postgres';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { spend, takenOf, token, TOKEN } from '../../packages/postgres/test/support.ts';
import { run } from '../redis/processes/run.ts';
import { until } from '../redis/servers/until.ts';
import { ownPostgresServer, postgresServer } from './postgres-server.ts';
import { BURST, outcomesOf, recovered, sceneOn } from './scene.ts';
import type { Hunted, HuntOrders } from './processes/hunt.mjs';
import { mayMount, smallDisk } from './small-disk.ts';
import { steeredDatabase } from './steered-database.ts';

describe('while the server is stopped', () => {
  test('the failure policies decide, their requests take no tokens afterwards, and PostgreSQL decides again', async () => {
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

  test('closing the store does not wait for the server', async () => {
    const server = await postgresServer();
    const scene = await sceneOn(server);
    server.freeze();
    const outcome = spend(scene.store, [token('x')], 200).catch((error: unknown) => error);
    await scene.store.close();
    expect(await outcome).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
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

test.skipIf(!mayMount)(
  'while the disk is full, the policies decide where it is needed',
  async () => {
    const disk = smallDisk();
    const server = await ownPostgresServer(['max_wal_size=32MB', 'min_wal_size=32MB'], disk.folder);
    const scene = await sceneOn(server);
    disk.fill();
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
    disk.free();
    await recovered(scene);
    await spend(scene.store, many(1000));
  },
  60_000,
);

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
