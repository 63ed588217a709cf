import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pgBouncer } from '../../../test/postgres/pgbouncer.ts';
import { ownPostgresServer, postgresServer } from '../../../test/postgres/postgres-server.ts';
import { mayMount, smallDisk } from '../../../test/postgres/small-disk.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { callError, isOfOneBatch, lacksSchema } from '../src/server/server-errors.ts';
import { meaningOf, SERVER_STATES } from '../src/server/server-states.ts';

/** Connects a client of pg, until the test ends. */
async function connected(connectionString: string, config: ClientConfig = {}): Promise<Client> {
  const client = new Client({ connectionString, ...config });
  client.on('error', () => {});
  onTestFinished(() => client.end().catch(() => {}));
  await client.connect();
  return client;
}

const refused = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('It was expected to be refused, and was not.'),
    (error: unknown) => error,
  );

/** What a client is answered for the last of some statements. */
async function answer(...statements: readonly string[]): Promise<unknown> {
  const client = await connected((await postgresServer()).url);
  for (const statement of statements.slice(0, -1)) await client.query(statement);
  return refused(client.query(statements.at(-1)!));
}

async function refusedConnection(user: string, database: string): Promise<unknown> {
  const { port } = await postgresServer();
  return refused(connected(`postgres://${user}@127.0.0.1:${port}/${database}`));
}

async function beyondTheLast(url: string): Promise<unknown> {
  await connected(url);
  return refused(connected(url));
}

/** Two transactions that change the row of the other each. */
async function conflict(isolation: string): Promise<unknown> {
  const server = await postgresServer();
  const table = server.newTable();
  await server.query(`create table ${table} as select i, 0 as n from generate_series(1, 2) i`);
  const [one, two] = [await connected(server.url), await connected(server.url)];
  const add = (client: Client, i: number): Promise<unknown> =>
    client.query(`update ${table} set n = n + (select sum(n) from ${table}) + 1 where i = ${i}`);
  for (const client of [one, two]) await client.query(`begin isolation level ${isolation}`);
  await add(one, 1);
  await add(two, 2);
  const first = Promise.allSettled([add(one, 2), add(two, 1)]);
  return (await first).flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))[0];
}

async function withoutSpace(): Promise<unknown> {
  const disk = smallDisk();
  const server = await ownPostgresServer(['max_wal_size=32MB', 'min_wal_size=32MB'], disk.folder);
  const client = await connected(server.url);
  disk.fill();
  return refused(client.query('create table wide as select repeat(i::text, 100) from generate_series(1, 1000000) i'));
}

async function withFewLocks(): Promise<unknown> {
  const server = await ownPostgresServer(['max_locks_per_transaction=10', 'max_connections=5']);
  const many = "do $$ begin for i in 1..5000 loop execute 'create table t' || i || '()'; end loop; end $$";
  return refused((await connected(server.url)).query(many));
}

async function whileItStops(): Promise<unknown> {
  const server = await ownPostgresServer();
  await connected(server.url);
  const [pid] = readFileSync(join(server.folder, 'postmaster.pid'), 'utf8').split('\n');
  // It ends when its last client does.
  process.kill(Number(pid), 'SIGTERM');
  await until('it is told', () => server.log.includes('received smart shutdown request'));
  return refused(connected(server.url));
}

async function locked(): Promise<unknown> {
  const server = await postgresServer();
  const table = server.newTable();
  const other = await connected(server.url);
  await server.query(`create table ${table} ()`);
  await other.query(`begin; lock ${table}`);
  return answer("set lock_timeout = '10ms'", 'begin', `lock ${table}`);
}

/** How a real server is made to answer with each state. */
const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  '08': async () => beyondTheLast((await pgBouncer(await postgresServer(), 1, 1)).url),
  '22': () => answer('select 1 / 0'),
  '23': () => answer('create temp table once (i int unique)', 'insert into once values (1), (1)'),
  '25006': () => answer('set default_transaction_read_only = on', 'create table never ()'),
  '28': () => refusedConnection('nobody', 'postgres'),
  '3D': () => refusedConnection('postgres', 'nothing'),
  '3F000': () => answer('create table nowhere.t ()'),
  '40': () => conflict('repeatable read'),
  '42501': () => answer('create role states', 'set role states', 'select * from pg_authid'),
  '42703': () => answer('select nothing from pg_class'),
  '42883': () => answer('select nothing()'),
  '42P01': () => answer('select * from nothing'),
  '53100': withoutSpace,
  '53200': withFewLocks,
  '53300': async () =>
    beyondTheLast((await ownPostgresServer(['max_connections=1', 'superuser_reserved_connections=0'])).url),
  '55P03': locked,
  '57014': () => answer("set statement_timeout = '10ms'", 'select pg_sleep(60)'),
  '57P03': whileItStops,
};

test('each state of a server has a way to make a real one answer it', () => {
  expect(Object.keys(WAYS).toSorted()).toEqual(Object.keys(SERVER_STATES).toSorted());
});

describe.each(Object.entries(WAYS))('a real server answers %s', (state, provoke) => {
  test.skipIf(state === '53100' && !mayMount)('which is read as the table says', async () => {
    const said = await provoke();
    const error = said as Error & { readonly code: string };
    expect({ error, state: error.code.slice(0, state.length) }).toEqual({ error, state });
    const { means, remedy = '' } = SERVER_STATES[state]!;
    expect(meaningOf(error.code)).toBe(SERVER_STATES[state]);
    const { code, message } = callError(error);
    const codes = { timeout: 'ERR_STORE_DEADLINE', call: 'ERR_STORE_BUCKET' } as Readonly<Record<string, string>>;
    expect(code).toBe(codes[means] ?? 'ERR_STORE_UNAVAILABLE');
    expect(message).toContain(remedy);
    expect([isOfOneBatch(error), lacksSchema(error)]).toEqual([
      means === 'call' || means === 'conflict',
      means === 'schema',
    ]);
  });
});
