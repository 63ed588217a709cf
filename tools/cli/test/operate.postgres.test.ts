import { accountId, createLimiter } from '@sluice/core';
import { postgresStore } from '@sluice/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { blockedByOperator, SHARED_BLOCK } from './blocked-by-operator.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }';

/** The limiter of a server, and where its buckets are. */
async function production() {
  const server = await postgresServer();
  const table = server.newTable();
  const store = postgresStore({ pool: server.pool, table });
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 300, period: '3h' } }, store });
  onTestFinished(() => limiter.close({ store: true }));
  await limiter.ready();
  return { limiter, server, table };
}

test('peek, charge, refund and reset use the table of the servers in PostgreSQL', async () => {
  const { limiter, server, table } = await production();
  await limiter.spend([{ limit: 'Orders', id: 'alice', cost: 299 }]);
  const [limits = ''] = written(LIMITS);
  const on = (command: string, ...rest: string[]) =>
    runJson([command, '--store', server.url, '--table', table, limits, 'Orders', 'alice', ...rest]);
  expect(await on('peek')).toMatchObject({ remaining: 1 });
  expect(await on('charge')).toMatchObject({ charged: 1, bucket: { remaining: 0 } });
  expect(await on('refund', '--cost', '5')).toMatchObject({ bucket: { remaining: 5 } });
  expect(await on('reset', '--yes')).toMatchObject({ before: 5, bucket: { remaining: 300 } });
  expect((await limiter.spend([{ limit: 'Orders', id: 'alice', cost: 300 }])).allowed).toBe(true);
});

test.each([
  ['a port where nothing listens', () => 'postgres://app@127.0.0.1:1/shop', 'that its address in `--store` is right.'],
  [
    'a table that is another',
    async () => (await postgresServer()).url,
    'does not exist. Correct `--store` or `--table`, or',
  ],
])('the error of %s names options of the command alone', async (_, address, remedy) => {
  const [limits = ''] = written(LIMITS);
  const options = ['--timeout', '500', '--table', 'absent'];
  const ran = await run(['peek', '--store', await address(), ...options, limits, 'Orders', 'alice']);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(remedy) as string });
  expect(ran.err).not.toMatch(/pool|connectionString|migrate/);
});

test('block, blocked and unblock use the table of the servers in PostgreSQL', async () => {
  const { limiter, server, table } = await production();
  const on = (...words: string[]) => runJson([...words, '--store', server.url, '--table', table]);
  const made = await on('block', 'Orders', 'alice', '--for', '2h', '--reason', 'ticket 4711', '--by', 'mia');
  const isBlocked = async (): Promise<boolean> => (await limiter.spend([{ limit: 'Orders', id: 'alice' }])).blocked;
  await until('the server knows it', isBlocked);
  expect(await on('blocked')).toEqual({ blocks: [made] });
  expect(await on('unblock', 'Orders', 'alice')).toMatchObject({ ended: { reason: 'ticket 4711' } });
  await until('the server knows it', async () => !(await isBlocked()));
});

test('a service on a table blocks an id for all processes of the table', async () => {
  const { limiter, server, table } = await production();
  const answers = await blockedByOperator(postgresStore({ pool: server.pool, table }), limiter);
  expect(answers).toMatchObject(SHARED_BLOCK);
});

test('a table that does not exist is an error, and is not made', async () => {
  const server = await postgresServer();
  const table = server.newTable();
  const [limits = ''] = written(LIMITS);
  const ran = await run(['peek', '--table', table, limits, 'Orders', 'alice'], { env: { SLUICE_STORE: server.url } });
  expect(ran).toMatchObject({
    code: 2,
    err: expect.stringContaining(`The table "${table}" can't be used: it does not exist`) as string,
  });
  expect(await server.query('select to_regclass($1)::text as found', [table])).toEqual([{ found: null }]);
});
