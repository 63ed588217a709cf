import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { postgresStore, schemaSql } from '@sluice/postgres';
import { expect, test } from 'vitest';
import { pgBouncer } from '../../../test/postgres/pgbouncer.ts';
import { ownPostgresServer, postgresServer, type PostgresServer } from '../../../test/postgres/postgres-server.ts';
import { diagnosis } from './diagnosis.ts';
import { run } from './run.ts';

type Where = readonly string[];

const at = ({ url }: { readonly url: string }, table: string): Where => ['--store', url, '--table', table];

/** A table with its functions, and what is changed of it. */
async function changed(change: (server: PostgresServer, table: string) => Promise<unknown>): Promise<Where> {
  const server = await postgresServer();
  const table = server.newTable();
  await server.query(schemaSql({ table }));
  await change(server, table);
  return at(server, table);
}

const altered = (...sql: readonly string[]): Promise<Where> =>
  changed(async (server, table) => {
    for (const each of sql) await server.query(each.replaceAll('TABLE', table));
  });

let roles = 0;

/** As a user who may do all but what is taken away. */
async function asUser(...sql: readonly string[]): Promise<Where> {
  const server = await postgresServer();
  const [table, user] = [server.newTable(), `limits_${process.pid}_${roles++}`];
  await server.query(schemaSql({ table }));
  await server.query(`create role ${user} login`);
  await server.query(`grant select, insert, update, delete on ${table}, ${table}_slots, ${table}_blocks to ${user}`);
  for (const each of sql) await server.query(each.replaceAll('TABLE', table).replaceAll('USER', user));
  return at({ url: server.url.replace('//postgres@', `//${user}@`) }, table);
}

async function onServer(...settings: readonly string[]): Promise<Where> {
  const server = await ownPostgresServer(settings);
  await server.query(schemaSql({ table: 'limits' }));
  return at(server, 'limits');
}

const WRONG: Readonly<Record<string, readonly [said: RegExp, make: () => Promise<Where>]>> = {
  'nothing listens': [
    /^store: .*ECONNREFUSED/,
    async () => at({ url: 'postgres://postgres@127.0.0.1:1/postgres' }, 'limits'),
  ],
  'a database that there is not': [
    /^store: .*does not exist/,
    async () => at({ url: (await postgresServer()).url.replace(/postgres$/, 'nowhere') }, 'limits'),
  ],
  'a user that there is not': [
    /^store: .*role "nobody_here" does not exist/,
    async () => at({ url: (await postgresServer()).url.replace('postgres@', 'nobody_here@') }, 'limits'),
  ],
  'tables that were not made': [
    /^tables: "none_\d+" does not exist/,
    async () => at(await postgresServer(), `none_${process.pid}`),
  ],
  'a table of another program': [/^tables: .* has no comment/, () => altered('comment on table TABLE is null')],
  'a table of a later version': [
    /^tables: .*version 9/,
    () => altered("comment on table TABLE is 'Buckets of Sluice, version 9'"),
  ],
  'a view in its place': [
    /^tables: .* not an ordinary table/,
    () => altered('alter table TABLE rename to TABLE_old', 'create view TABLE as select * from TABLE_old'),
  ],
  'one table that is logged': [/^tables: one is logged/, () => altered('alter table TABLE set logged')],
  'a function that is missing': [/^functions: .*_run_v2" does not exist/, () => altered('drop function TABLE_run_v2')],
  'a function of another version': [
    /^functions: .*_run_v2" is another one: .*fingerprint 0/,
    () => altered("comment on function TABLE_run_v2 is 'Sluice, fingerprint 0'"),
  ],
  'a second function of the name': [
    /^functions: there are 2 functions/,
    () => altered('create function TABLE_run_v2(a integer) returns integer language sql as $$ select 1 $$'),
  ],
  'a user who may not write': [
    /^permissions: lacks INSERT, UPDATE on /,
    () => asUser('revoke insert, update on TABLE from USER'),
  ],
  'a user who may not execute': [
    /^permissions: lacks EXECUTE on /,
    () => asUser('revoke execute on function TABLE_run_v2 from public'),
  ],
  'a user who may only read': [
    /^role: transactions of this user may only read/,
    () => asUser('alter role USER set default_transaction_read_only to on'),
  ],
  'transactions of another isolation': [
    /^store: .*read committed/,
    () => asUser("alter role USER set default_transaction_isolation to 'serializable'"),
  ],
  'a timeout shorter than the deadline': [
    /^timeouts: statement_timeout is 900 ms/,
    () => asUser('alter role USER set statement_timeout to 900'),
  ],
  'a timeout shorter than its own statements': [
    /^timeouts: statement_timeout is 25 ms/,
    () => asUser('alter role USER set statement_timeout to 25'),
  ],
  'a role with few connections': [
    /^connections: (?:1 of 1 by the role|another one was refused)/,
    () => asUser('alter role USER connection limit 1'),
  ],
  'a table without vacuum': [
    /^vacuum: autovacuum is off for /,
    () => altered('alter table TABLE set (autovacuum_enabled = false)'),
  ],
  'a server without vacuum': [/^vacuum: autovacuum is off\./, () => onServer('autovacuum=off')],
};

test.each(Object.entries(WRONG))('sluice doctor names %s', async (_, [said, make]) => {
  const { code, wrong } = await diagnosis([...(await make()), '--timeout', '2000']);
  expect(wrong).toContainEqual(expect.stringMatching(said));
  expect(code).toBe(1);
});

async function used(server: PostgresServer): Promise<string> {
  const table = server.newTable();
  const limiter = createLimiter({
    limits: {
      Orders: { key: accountId(), count: 10, period: '1h' },
      InFlight: concurrency({ key: accountId(), concurrency: 3, expiry: '1m' }),
    },
    store: postgresStore({ pool: server.pool, table }),
  });
  await limiter.ready();
  await limiter.spend([{ limit: 'Orders', id: '7' }]);
  await limiter.spend([{ limit: 'InFlight', id: '7' }], { hold: true });
  await limiter.close({ store: true });
  return table;
}

test('sluice doctor is silent on tables that are used, and writes nothing', async () => {
  // Nobody else begins transactions that write.
  const server = await ownPostgresServer(['autovacuum_naptime=86400']);
  const table = await used(server);
  const writes = async () => [
    await server.query('select txid_snapshot_xmax(txid_current_snapshot()) as next'),
    await server.query(`select ctid::text, xmax::text, * from ${table}`),
  ];
  const before = await writes();
  expect(await diagnosis(at(server, table))).toEqual({ code: 0, wrong: [], notes: [] });
  expect(await writes()).toEqual(before);
});

test('sluice doctor is silent behind PgBouncer that pools transactions, and names it', async () => {
  const server = await postgresServer();
  const where = at(await pgBouncer(server, 5), await used(server));
  expect(await diagnosis(where)).toEqual({ code: 0, wrong: [], notes: [] });
  expect((await run(['doctor', '--deadline', '60s', ...where])).out).toMatch(
    /^ok {5}pooler +between, such as PgBouncer$/m,
  );
});
