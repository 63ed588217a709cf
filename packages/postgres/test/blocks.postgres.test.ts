import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { postgresStore, type PostgresStore } from '@sluice/postgres';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { ownPostgresServer, postgresServer } from '../../../test/postgres/postgres-server.ts';
import { realDelay } from '../../../test/real-delay.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { storeOn } from './support.ts';

const server = await postgresServer();
const entry = { limit: 'Orders', id: '7' } as const;
const WHY = { forMs: 3_600_000, reason: 'it\'s \\ "4711"', by: 'mia' };

function limiterOn(store: PostgresStore, log: (line: string) => void = () => undefined): Limiter {
  const limits = { Orders: { key: accountId(), count: 1000, period: '1h' } };
  return createLimiter({ limits, store, failure: { deadlineMs: 5000 }, log });
}

const isBlocked = async (limiter: Limiter): Promise<boolean> => (await limiter.spend([entry])).blocked;

test('blocks take effect in all processes within a second, as their end does, and through a restart of one', async () => {
  const table = server.newTable();
  const open = (): Limiter => limiterOn(storeOn(server, { table }));
  const [one, other] = [open(), open()];
  expect(await isBlocked(other)).toBe(false);
  await one.block([{ ...entry, ...WHY }]);
  expect(await isBlocked(one)).toBe(true);
  await until('the other process knows it', () => isBlocked(other));
  await other.close({ store: true });
  const again = open();
  await again.ready();
  expect(await isBlocked(again)).toBe(true);
  expect(await one.unblock([entry])).toMatchObject([{ ...entry, reason: WHY.reason }]);
  await until('its end is known', async () => !(await isBlocked(again)));
  expect(await server.query(`select * from ${table}_blocks`)).toEqual([]);
});

test('what is known stays in effect while the server is down', async () => {
  const own = await ownPostgresServer();
  const store = postgresStore({ connectionString: own.url });
  const limiter = limiterOn(store);
  onTestFinished(() => limiter.close({ store: true }));
  await limiter.block([{ ...entry, ...WHY }]);
  await own.stop();
  expect(await isBlocked(limiter)).toBe(true);
  expect(await limiter.spend([{ ...entry, id: '8' }])).toMatchObject({ allowed: true, failure: { policy: 'local' } });
  await realDelay(1100);
  expect(await isBlocked(limiter)).toBe(true);
  await expect(limiter.unblock([entry])).rejects.toMatchObject({ kind: 'store' });
});

test('the table survives a crash of the server, unlike buckets', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  const rows = `select relpersistence::text from pg_class where oid in ('${table}'::regclass, '${table}_blocks'::regclass) order by relname`;
  expect(await server.query(rows)).toEqual([{ relpersistence: 'u' }, { relpersistence: 'p' }]);
});

test('a store of the version before gets the table, and decides without it where it may not be made', async () => {
  const table = server.newTable();
  await storeOn(server, { table }).migrate();
  await server.query(`drop table ${table}_blocks`);
  const forbidden = storeOn(server, { table, migrate: false });
  const limiter = limiterOn(forbidden);
  await limiter.ready();
  expect(await isBlocked(limiter)).toBe(false);
  await expect(limiter.block([{ ...entry, ...WHY }])).rejects.toMatchObject({
    code: 'ERR_STORE_SCHEMA',
    message: expect.stringContaining(`The table "${table}_blocks" does not exist`) as string,
  });
  await limiterOn(storeOn(server, { table })).ready();
  await limiter.block([{ ...entry, ...WHY }]);
  expect(await isBlocked(limiter)).toBe(true);
  await server.query(`drop table ${table}_blocks`);
  await forbidden.migrate();
  expect(await limiter.blocked()).toEqual([]);
});

test('a table that was dropped is made again by the next block', async () => {
  const table = server.newTable();
  const limiter = limiterOn(storeOn(server, { table }));
  await limiter.block([{ ...entry, ...WHY }]);
  await server.query(`drop table ${table}_blocks`);
  await expect(limiter.blocked()).rejects.toMatchObject({ kind: 'store' });
  await limiter.block([{ ...entry, ...WHY }]);
  expect(await limiter.blocked()).toHaveLength(1);
});

test('a user without a permission on it gets a warning, and decides', async () => {
  // Servers of tests may be those of other processes, too.
  const name = `stranger_${process.pid}`;
  const table = `${name}.buckets`;
  await server.query(`create schema ${name}; create role ${name} login`);
  await storeOn(server, { table }).migrate();
  await server.query(`grant usage on schema ${name} to ${name}; grant all on ${table}, ${table}_slots to ${name}`);
  const pool = new Pool({ connectionString: server.url.replace('postgres@', `${name}@`), max: 1 });
  onTestFinished(() => pool.end());
  const store = postgresStore({ pool, table });
  onTestFinished(() => store.close());
  const lines: string[] = [];
  const limiter = limiterOn(store, (line) => lines.push(line));
  await until('it is told', async () => {
    expect(await isBlocked(limiter)).toBe(false);
    return lines.some((line) => /blocks of the store can't be read.*lacks a permission/.test(line));
  });
});
