import { FakeTime } from '@sluice/core/testing';
import { postgresStore, type PostgresClient, type PostgresPool } from '@sluice/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { spend, storeOn, takenOf, token } from './support.ts';

const server = await postgresServer();

/** A pool that makes no connection, and how often it was asked for one. */
function deadPool() {
  const asked = { count: 0 };
  const connect = (): Promise<never> => {
    asked.count++;
    return Promise.reject(new Error('connect ECONNREFUSED'));
  };
  return { asked, pool: { totalCount: 0, connect } as PostgresPool };
}

/** The pool of the server, with clients whose statements are executed by `query`. */
function poolWith(query: (client: PostgresClient, ...args: Parameters<PostgresClient['query']>) => unknown) {
  const lent = { count: 0 };
  const connect = async (): Promise<PostgresClient> => {
    const client: PostgresClient = await server.pool.connect();
    lent.count++;
    return {
      query: (statement) => query(client, statement) as ReturnType<PostgresClient['query']>,
      on: (event, listener) => client.on(event, listener),
      removeListener: (event, listener) => client.removeListener(event, listener),
      release(destroy) {
        lent.count--;
        client.release(destroy);
      },
    };
  };
  return { lent, pool: { totalCount: 0, connect } as PostgresPool };
}

test('while ready waits, the server is asked ten times a second, however many calls fail meanwhile', async () => {
  const { asked, pool } = deadPool();
  const time = new FakeTime();
  const store = postgresStore({ pool, time });
  const ready = store.ready({ timeoutMs: 60_000 }).catch((error: unknown) => error);
  for (let call = 0; call < 20; call++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect(spend(store, [token('x')])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  }
  asked.count = 0;
  await time.pass(1000);
  expect(asked.count).toBeLessThanOrEqual(11);
  await store.close();
  expect(await ready).toMatchObject({ code: 'ERR_CLOSED' });
});

test('after ready has timed out, the server is not asked any more', async () => {
  const { asked, pool } = deadPool();
  const time = new FakeTime();
  const store = postgresStore({ pool, time });
  const ready = store.ready({ timeoutMs: 250 }).catch((error: unknown) => error);
  for (let step = 0; step < 5; step++) {
    // oxlint-disable-next-line no-await-in-loop -- each attempt sets the alarm of the next one
    await time.pass(50);
  }
  expect(await ready).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  expect(asked.count).toBeGreaterThan(1);
  asked.count = 0;
  await time.pass(10_000);
  expect(asked.count).toBe(0);
  await store.close();
});

test('a missing function of the sweep fails no call, and is created again', async () => {
  const table = server.newTable();
  const time = new FakeTime();
  const store = storeOn(server, { table, time });
  await spend(store, [token('x')]);
  await server.query(`drop function ${table}_sweep_v1`);
  await time.pass(1000);
  await spend(store, [token('x')]);
  expect(store.status()).toMatchObject({ state: 'up', lastError: undefined });
  const [row] = await server.query(`select count(*)::int from pg_proc where proname = '${table}_sweep_v1'`);
  expect(row).toEqual({ count: 1 });
});

test('a client whose query throws is given back, and the next call has another one', async () => {
  let isBroken = true;
  const { lent, pool } = poolWith((client, statement) => {
    if (isBroken) throw new Error('traced');
    return client.query(statement);
  });
  const store = postgresStore({ pool, table: server.newTable() });
  onTestFinished(() => store.close());
  await expect(spend(store, [token('x')])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  expect(lent.count).toBe(0);
  isBroken = false;
  await spend(store, [token('x')]);
  expect(await takenOf(store, 'x')).toBe(1);
});

test('when calls of a failed statement are sent alone and the connection ends, all of them fail at once', async () => {
  let isBroken = false;
  let together = 0;
  const { pool } = poolWith((client, statement) => {
    const keys = statement.values?.[2] as readonly string[] | undefined;
    if (!isBroken || keys === undefined) return client.query(statement);
    if (keys.length === 1) return Promise.reject(new Error('Connection terminated'));
    together++;
    return Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
  });
  const store = postgresStore({ pool, table: server.newTable(), time: new FakeTime() });
  onTestFinished(() => store.close());
  await store.ready();
  isBroken = true;
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => spend(store, [token(id)])));
  expect(together).toBe(1);
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'ERR_STORE_UNAVAILABLE' } });
});
