import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { postgresStore, type PostgresClient, type PostgresPool } from '@sluice/postgres';
import { expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
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

function idsFrom(first: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `Tokens:${first + i}`);
}

/** A limiter on a pool whose statements with calls are sent when the test opens the gate. */
async function gatedScene(deadlineMs: number) {
  const gate = { isOpen: true, statements: [] as { keys: readonly string[]; missed: number; send: () => void }[] };
  const { pool } = poolWith(async (client, statement) => {
    const keys = (statement.values?.[2] ?? []) as readonly string[];
    if (!gate.isOpen && keys.length > 0) {
      const { missed } = store.status().counts;
      await new Promise<void>((send) => gate.statements.push({ keys, missed, send }));
    }
    return client.query(statement);
  });
  const time = new FakeTime();
  const store = postgresStore({ pool, table: server.newTable(), time });
  // The deadlines are so long because the server's own clock does not stop.
  const limiter = createLimiter({
    limits: { Tokens: { key: accountId(), burst: 10, count: 10, period: '1h' } },
    store,
    time,
    log: false,
    failure: { deadlineMs, onFailure: 'open' },
  });
  onTestFinished(async () => {
    await limiter.close();
    await store.close();
  });
  await limiter.ready();
  const decide = (count: number) =>
    Array.from({ length: count }, (_, id) => limiter.spend([{ limit: 'Tokens', id: `${id}` }]));
  return { gate, time, store, limiter, decide };
}

test('more calls at once than PostgreSQL answers in time are no outage: as many as it can are decided, the others by policy', async () => {
  const { gate, time, store, limiter, decide } = await gatedScene(20_000);
  gate.isOpen = false;
  const decisions = decide(300);
  await until('the first are sent', () => gate.statements.length === 1);
  await time.pass(8000);
  gate.statements[0]!.send();
  await until('the next are sent', () => gate.statements.length === 2);
  await time.pass(8000);
  // The oldest have less than a quarter of their deadline left, so the third has those who ask now, and the 54 youngest others.
  const later = decide(10);
  gate.statements[1]!.send();
  await until('the youngest are sent', () => gate.statements.length === 3);
  expect(gate.statements[2]!.keys).toEqual([...idsFrom(246, 54), ...idsFrom(0, 10)]);
  await time.pass(4000);
  gate.isOpen = true;
  gate.statements[2]!.send();
  const causes = (await Promise.all(decisions)).map(({ failure }) => failure?.cause as { code?: unknown } | undefined);
  expect(causes.filter((cause) => cause === undefined)).toHaveLength(128);
  expect(causes.filter((cause) => cause?.code === 'ERR_STORE_OVERLOAD')).toHaveLength(172);
  expect((await Promise.all(later)).every(({ failure }) => failure === undefined)).toBe(true);
  expect(limiter.status()).toMatchObject({ state: 'up', outages: 0, decidedByPolicy: 172 });
  expect(store.status()).toMatchObject({ state: 'up', counts: { missed: 172 } });
});

test('calls whose deadline has passed while the process was busy fail after the others are sent, with one error, and cause no outage', async () => {
  const { gate, time, limiter, store, decide } = await gatedScene(20_000);
  gate.isOpen = false;
  const { batches } = store.status().counts;
  const decisions = decide(100);
  // Nothing runs, as in a turn of the event loop that takes so long.
  time.set(time.nowMs + 20_000);
  const others = decide(10);
  await until('the others are sent', () => gate.statements.length === 1);
  expect(store.status().counts.batches - batches).toBe(10);
  expect(gate.statements[0]!.missed).toBe(0);
  const causes = new Set((await Promise.all(decisions)).map(({ failure }) => failure?.cause));
  expect([...causes]).toEqual([expect.objectContaining({ code: 'ERR_STORE_OVERLOAD' })]);
  gate.statements[0]!.send();
  expect((await Promise.all(others)).every(({ failure }) => failure === undefined)).toBe(true);
  expect(limiter.status()).toMatchObject({ state: 'up', outages: 0 });
});

test('calls that are sent while others wait, and answered too late, are no outage, but a connection that hangs is one', async () => {
  const { gate, time, store, limiter, decide } = await gatedScene(20_000);
  gate.isOpen = false;
  const decisions = decide(100);
  await until('the first are sent', () => gate.statements.length === 1);
  await time.pass(20_000);
  await Promise.all(decisions);
  expect(limiter.status()).toMatchObject({ state: 'up', outages: 0, decidedByPolicy: 100 });
  await time.pass(90);
  const others = decide(10);
  await time.pass(10);
  await until('the connection was closed', () => store.status().counts.resets === 1);
  await Promise.all(others);
  expect(limiter.status()).toMatchObject({ state: 'failing', outages: 1 });
  for (const { send } of gate.statements) send();
});

test('a call that no other call delays and that PostgreSQL does not answer is a failure, not an overload', async () => {
  const { gate, time, decide } = await gatedScene(20_000);
  gate.isOpen = false;
  const [decision] = decide(1);
  await until('it is sent', () => gate.statements.length === 1);
  const [behind] = decide(1);
  await time.pass(20_000);
  expect((await decision!).failure?.cause).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  expect((await behind!).failure?.cause).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
  gate.statements[0]!.send();
});
