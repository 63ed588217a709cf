import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { systemTime } from '@sluice/core/kit';
import { postgresStore } from '@sluice/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { tableKeys } from '../src/redis/table-keys.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = `
Orders: { count: 300, period: 3h, idFormat: accountId }
Orders.Bulk: { count: 100, period: 3h, idFormat: accountId }
Monthly: { count: 1000, per: month, idFormat: accountId }
InFlight: { concurrency: 10, idFormat: accountId }
`;

/** A server with a table of its own, and a limiter on it. */
async function production() {
  const server = await postgresServer();
  const table = server.newTable();
  const store = postgresStore({ pool: server.pool, table });
  const key = accountId();
  const limiter = createLimiter({
    limits: {
      Orders: { key, count: 300, period: '3h' },
      'Orders.Bulk': { key, count: 100, period: '3h' },
      Monthly: quota({ key, count: 1000, per: 'month' }),
      InFlight: concurrency({ key, concurrency: 10 }),
    },
    store,
    failure: { deadlineMs: 20_000 },
  });
  onTestFinished(() => limiter.close({ store: true }));
  await limiter.ready();
  const [limits = ''] = written(LIMITS);
  const args = ['top', '--store', server.url, '--table', table, limits];
  return { server, table, limiter, args };
}

const chargedOrders = (limiter: Awaited<ReturnType<typeof production>>['limiter'], ids: number) =>
  limiter.charge(Array.from({ length: ids }, (_, i) => ({ limit: 'Orders', id: `id${i}`, cost: 1 + ((i * 7) % 299) })));

test('sluice top lists buckets of all kinds in PostgreSQL by the part that is left, and those of one limit', async () => {
  const { server, table, limiter, args } = await production();
  await limiter.charge([
    { limit: 'Orders', id: 'b:c{d}', cost: 200 },
    { limit: 'Orders', id: 'x'.repeat(250), cost: 300 },
    { limit: 'Orders.Bulk', id: 'alice', cost: 60 },
    { limit: 'Monthly', id: 'alice', cost: 900 },
  ]);
  const held = await limiter.spend([{ limit: 'InFlight', id: 'alice' }], { hold: true });
  // Of a limit that the file does not have, and of nobody.
  await server.query(`insert into ${table} values ('Searches:alice', 1, 1), ('nobody', 1, 1), ('Orders:%zz', 1, 1)`);
  const { code, out, err } = await run(args);
  expect({ code, out: out.replace(/, full in .*/g, '') }).toEqual({
    code: 0,
    out: `Monthly alice: 100 of 1000 tokens left
Orders b:c{d}: 100 of 300 tokens left
Orders.Bulk alice: 40 of 100 tokens left
InFlight alice: 9 of 10 slots left
`,
  });
  expect(err).toContain('Buckets of these limits: 4.\nLeft out because their id is too long to be in the key: 1.\n');
  // A bucket that is full again, until it is deleted.
  await server.query(`insert into ${table} values ('Orders:old', 1, 1)`);
  expect((await run([...args, '--limit', 'Orders'])).out).toMatch(/^Orders b:c\{d\}: .*\n$/);
  expect((await run([...args, '--limit', 'Users'])).err).toContain("No limit is named 'Users'.");
  await held.release();
});

test('sluice top finds the emptiest of thousands of buckets in PostgreSQL, and changes nothing', async () => {
  const { server, table, limiter, args } = await production();
  await chargedOrders(limiter, 2000);
  const rows = (): Promise<unknown> => server.query(`select *, xmin from ${table} order by key`);
  const before = await rows();
  const found = await runJson([...args, '--count', '3']);
  expect(found).toMatchObject({
    complete: true,
    buckets: 2000,
    top: [{ remaining: 1 }, { remaining: 1 }, { remaining: 1 }],
  });
  expect(await rows()).toEqual(before);
  expect(await runJson([...args, '--max-keys', '500'])).toMatchObject({ complete: false, keys: 600 });
  expect(await server.query('select 1 from pg_locks where relation = to_regclass($1)', [table])).toEqual([]);
});

test('a table that is locked between two steps ends the listing within its time', async () => {
  const { server, table, limiter, args } = await production();
  await chargedOrders(limiter, 20);
  const address = { connectionString: server.url, table, timeoutMs: 300 };
  const steps = tableKeys(address, { limit: 'Orders', time: systemTime, count: 10 });
  expect((await steps.next()).value).toHaveLength(10);
  const client = await server.pool.connect();
  await client.query(`begin; lock table ${table}`);
  await expect(steps.next()).rejects.toThrow(`PostgreSQL could not list the buckets of "${table}": `);
  const { code, err } = await run([...args, '--timeout', '300']);
  await client.query('rollback');
  client.release();
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('ERR_STORE_UNAVAILABLE') as string });
  expect(await server.query("select 1 from pg_stat_activity where state = 'idle in transaction'")).toEqual([]);
});

test('a step reads in a transaction that can not write', async () => {
  const { server, table, limiter } = await production();
  await chargedOrders(limiter, 2);
  // In another schema: a view that writes when it is read.
  await server.query('create schema limits');
  await server.query('create sequence limits.counted');
  await server.query(
    `create view limits.${table} as select key || nextval('limits.counted') * 0 as key from public.${table}`,
  );
  const address = { connectionString: server.url, table: `limits.${table}`, timeoutMs: 3000 };
  const steps = tableKeys(address, { limit: undefined, time: systemTime, count: 10 });
  await expect(steps.next()).rejects.toThrow(
    `"limits"."${table}": cannot execute nextval() in a read-only transaction`,
  );
});

test('sluice top names the permission that is missing, and refuses a table of another program', async () => {
  const { server, table, limiter, args } = await production();
  await chargedOrders(limiter, 10);
  await server.query('drop role if exists watcher');
  await server.query('create role watcher login');
  const asWatcher = args.map((arg) => arg.replace('//postgres@', '//watcher@'));
  expect(await run(asWatcher)).toMatchObject({ code: 2, err: expect.stringMatching(/permission|privilege/) as string });
  const other = server.newTable();
  await server.query(`create table ${other} (key text primary key, name text)`);
  const onOther = args.map((arg) => (arg === table ? other : arg));
  expect(await run(onOther)).toMatchObject({
    code: 2,
    err: expect.stringContaining(`"${other}" can't be used`) as string,
  });
  for (const address of ['postgres://127.0.0.1:1/x', 'postgres://nobody:secret@127.0.0.1:1/x']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { code, err } = await run(['top', '--store', address, '--timeout', '300', args.at(-1)!]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('ERR_STORE_UNAVAILABLE') as string });
    expect(err).not.toContain('secret');
  }
});
