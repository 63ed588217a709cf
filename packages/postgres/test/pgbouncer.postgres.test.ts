import { FakeTime } from '@sluice/core/testing';
import { postgresStore } from '@sluice/postgres';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { pgBouncer } from '../../../test/postgres/pgbouncer.ts';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { spend, takenOf, token, TOKEN } from './support.ts';

const server = await postgresServer();

function poolOf({ url }: { readonly url: string }): Pool {
  const pool = new Pool({ connectionString: url });
  onTestFinished(() => void pool.end());
  return pool;
}

test('behind a PgBouncer that pools transactions, stores that share its connections take exactly what there is', async () => {
  const bouncer = await pgBouncer(server, 2);
  const table = server.newTable();
  const stores = Array.from({ length: 4 }, () => postgresStore({ pool: poolOf(bouncer), table }));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  await Promise.all(stores.map((store) => store.ready()));
  const readings = await Promise.all(
    stores.flatMap((store) => Array.from({ length: 50 }, () => spend(store, [token('x'), token('y')]))),
  );
  // A reading has the level before the call.
  expect(readings.filter(({ levelsTicks: [level] }) => level! <= 9 * TOKEN)).toHaveLength(10);
  expect(await takenOf(stores[0]!, 'x')).toBe(10);
  await stores[0]!.migrate();
});

test('a PgBouncer that accepts connections and answers on none is no end: when it answers again, so does the store', async () => {
  const bouncer = await pgBouncer(server, 2);
  const time = new FakeTime();
  const pool = poolOf(bouncer);
  const store = postgresStore({ pool, table: server.newTable(), time });
  onTestFinished(() => store.close());
  await spend(store, [token('x')]);
  bouncer.freeze();
  const outcome = spend(store, [token('x')], 50).catch((error: unknown) => error);
  await until('it waits', () => pool.totalCount - pool.idleCount === 1);
  await time.pass(151);
  expect(await outcome).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  expect(store.status()).toMatchObject({ state: 'down', counts: { resets: 1 } });
  for (let attempt = 0; attempt < 2; attempt++) {
    const next = spend(store, [token('x')], 20_000).catch((error: unknown) => error);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until('a connection is asked for', () => pool.totalCount > attempt);
    // oxlint-disable-next-line no-await-in-loop
    await time.pass(2000);
    // oxlint-disable-next-line no-await-in-loop
    expect(await next).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  }
  bouncer.thaw();
  await time.pass(4000);
  await spend(store, [token('x')]);
  expect(store.status().state).toBe('up');
});
