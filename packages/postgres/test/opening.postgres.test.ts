import { FakeTime } from '@sluice/core/testing';
import { postgresStore, type PostgresStore, type PostgresStoreOptions } from '@sluice/postgres';
import { Pool, type PoolConfig } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { realDelay } from '../../../test/real-delay.ts';
import { tcpProxy, type TcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { spend, takenOf, token } from './support.ts';

const server = await postgresServer();

/** A pool as everybody makes it, on a proxy in front of the server, and a store on it. */
async function sceneWith(
  config: PoolConfig = {},
  options: Partial<PostgresStoreOptions> = {},
): Promise<{ proxy: TcpProxy; pool: Pool; store: PostgresStore }> {
  const proxy = await tcpProxy(server);
  const pool = new Pool({ connectionString: urlOf(proxy), ...config });
  const store = postgresStore({ pool, table: server.newTable(), ...options });
  onTestFinished(async () => {
    await store.close();
    pool.on('error', () => {});
    proxy.resetOnce();
    void pool.end();
  });
  return { proxy, pool, store };
}

function urlOf({ port }: TcpProxy): string {
  return server.url.replace(/:\d+\//, `:${port}/`);
}

async function codeOf(outcome: Promise<unknown>): Promise<unknown> {
  return outcome.then(
    () => 'resolved',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  );
}

describe('a connection that is accepted and never answered', () => {
  test('is given up, and when the server answers again, so does the store', async () => {
    const time = new FakeTime();
    const { proxy, pool, store } = await sceneWith({}, { time });
    proxy.blackhole();
    for (let attempt = 0; attempt < 4; attempt++) {
      const outcome = codeOf(spend(store, [token('x')], 10_000));
      // oxlint-disable-next-line no-await-in-loop -- one attempt after the other
      await until('it asks the pool, or not any more', () => pool.totalCount > attempt || attempt >= 2);
      // oxlint-disable-next-line no-await-in-loop
      await time.pass(2000);
      // oxlint-disable-next-line no-await-in-loop
      expect(await outcome).toBe('ERR_STORE_UNAVAILABLE');
    }
    // It does not use up the pool.
    expect(pool.totalCount).toBeLessThanOrEqual(3);
    await proxy.pass();
    await time.pass(4000);
    await spend(store, [token('x')]);
    expect(await takenOf(store, 'x')).toBe(1);
    // The pool was told to give them up, too.
    await until('the pool has only those that work', () => pool.totalCount <= 2 && pool.waitingCount === 0);
  });

  test('ends as soon as the pool itself says, and its own callers have the limit of the pool', async () => {
    const { proxy, pool, store } = await sceneWith({ connectionTimeoutMillis: 100 });
    proxy.blackhole();
    expect(await codeOf(spend(store, [token('x')]))).toBe('ERR_STORE_UNAVAILABLE');
    expect(pool.options.connectionTimeoutMillis).toBe(100);
    await proxy.pass();
    // The limit is short for a busy machine.
    await until('it decides', async () => (await codeOf(spend(store, [token('x')]))) === 'resolved');
  });

  test('leaves the options of the pool as they were', async () => {
    const { pool, store } = await sceneWith();
    await spend(store, [token('x')]);
    expect(pool.options.connectionTimeoutMillis).toBeUndefined();
  });

  test('costs the time once: after it, decisions wait no longer than their deadline', async () => {
    const time = new FakeTime();
    const { proxy, store } = await sceneWith({}, { time });
    proxy.blackhole();
    const first = codeOf(spend(store, [token('x')], 50));
    await until('it is sent', () => proxy.connections > 0);
    await time.pass(1900);
    expect(await Promise.race([first, Promise.resolve('it waits')])).toBe('it waits');
    await time.pass(150);
    expect(await first).toBe('ERR_STORE_UNAVAILABLE');
    const second = codeOf(spend(store, [token('x')], 50));
    await realDelay(20);
    await time.pass(51);
    expect(await second).toBe('ERR_STORE_DEADLINE');
  });

  test('does not keep the store from being closed', async () => {
    const proxy = await tcpProxy(server);
    proxy.blackhole();
    const store = postgresStore({ connectionString: urlOf(proxy) });
    const outcomes = [codeOf(spend(store, [token('x')], 50)), codeOf(store.ready()), codeOf(store.migrate())];
    await until('it connects', () => proxy.connections > 0);
    await store.close();
    expect(await Promise.all(outcomes)).toEqual(['ERR_STORE_DEADLINE', 'ERR_CLOSED', 'ERR_CLOSED']);
  });
});

describe('ready and migrate', () => {
  test('end with a code on a server that accepts and never answers, and work when it does', async () => {
    const time = new FakeTime();
    const { proxy, store } = await sceneWith({}, { time });
    proxy.blackhole();
    const outcomes = [codeOf(store.ready({ timeoutMs: 3000 })), codeOf(store.migrate())];
    await until('both connect', () => proxy.connections === 2);
    await time.pass(3000);
    expect(await Promise.all(outcomes)).toEqual(['ERR_STORE_UNAVAILABLE', 'ERR_STORE_UNAVAILABLE']);
    await proxy.pass();
    await time.pass(4000);
    await store.migrate();
    await store.ready();
  });

  test('end with a code when the connection hangs after it was made, and work on another one', async () => {
    const time = new FakeTime();
    const { proxy, pool, store } = await sceneWith({}, { time });
    await pool.query('select 1');
    proxy.blackhole();
    const ready = codeOf(store.ready({ timeoutMs: 10_000 }));
    await until('it has asked', () => proxy.lostBytes > 0);
    await time.pass(5000);
    await until('the connection was closed', () => store.status().counts.resets === 1);
    await time.pass(5000);
    expect(await ready).toBe('ERR_STORE_UNAVAILABLE');
    await proxy.pass();
    await time.pass(4000);
    await store.ready();
  });

  test('migrate ends with a code while another transaction has the lock, and works after it', async () => {
    const time = new FakeTime();
    const { store } = await sceneWith({}, { time });
    const other = await server.pool.connect();
    await other.query('select pg_advisory_lock(7598814302714)');
    const migrated = codeOf(store.migrate());
    const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'";
    await until('it waits for the lock', async () => (await server.query(waits)).length > 0);
    await time.pass(30_000);
    expect(await migrated).toBe('ERR_STORE_UNAVAILABLE');
    await other.query('select pg_advisory_unlock(7598814302714)');
    other.release();
    await store.migrate();
    await store.ready();
  });

  test('the server itself ends the wait for a lock while calls wait for the tables', async () => {
    const { store } = await sceneWith();
    const other = await server.pool.connect();
    await other.query('select pg_advisory_lock(7598814302714)');
    const ready = codeOf(store.ready({ timeoutMs: 20_000 }));
    await until('it was told', () => store.status().lastError !== undefined);
    expect(store.status().lastError?.cause).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    await other.query('select pg_advisory_unlock(7598814302714)');
    other.release();
    expect(await ready).toBe('resolved');
  });

  test('a sweep whose connection hangs ends, and calls have another one', async () => {
    const time = new FakeTime();
    const { proxy, store } = await sceneWith({}, { time });
    await spend(store, [token('x')]);
    proxy.blackhole();
    await time.pass(1000);
    await until('it has asked', () => proxy.lostBytes > 0);
    await time.pass(5000);
    await until('the connection was closed', () => store.status().counts.resets === 1);
    await proxy.pass();
    await spend(store, [token('x')]);
    expect(await takenOf(store, 'x')).toBe(2);
  });
});

describe('a limit that is rarely used', () => {
  test('is decided by the store although the pool closes idle connections and making one takes longer than the deadline', async () => {
    const { proxy, pool, store } = await sceneWith({ idleTimeoutMillis: 50 });
    await store.migrate();
    // A decision takes half of its deadline, which is enough on a busy machine, and a new connection takes longer than it.
    proxy.delay(500);
    for (let attempt = 0; attempt < 2; attempt++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await until('the pool has closed its connection', () => pool.totalCount === 0);
      // oxlint-disable-next-line no-await-in-loop
      await spend(store, [token('x')], 1000);
    }
    expect(store.status().counts.missed).toBe(0);
  });

  test('is decided by the store at its first use after an outage, which it noticed the end of by itself', async () => {
    const time = new FakeTime();
    const { proxy, store } = await sceneWith({}, { time });
    await store.ready();
    await proxy.refuse();
    await until('it has lost its connection', async () => (await codeOf(spend(store, [token('x')]))) !== 'resolved');
    await proxy.pass();
    expect(store.status().state).toBe('down');
    await time.pass(1000);
    await until('it is up without a call', () => store.status().state === 'up');
    await until('no timer keeps the process alive', () => time.pending === 0);
  });

  test('has a connection that is kept, if that is said, and no timer keeps the process alive', async () => {
    const { pool, store } = await sceneWith({ idleTimeoutMillis: 200 }, { keepConnected: true });
    await store.ready();
    const made: unknown[] = [];
    pool.on('connect', (client) => made.push(client));
    await realDelay(1000);
    await spend(store, [token('x')]);
    expect(made).toEqual([]);
    const time = new FakeTime();
    const other = await sceneWith({}, { keepConnected: true, time });
    await spend(other.store, [token('x')]);
    expect(time.pending).toBe(0);
  });

  test('has a connection that is kept in a pool of the store itself: one that was cut is replaced before the next call', async () => {
    const time = new FakeTime();
    const proxy = await tcpProxy(server);
    const store = postgresStore({ connectionString: urlOf(proxy), table: server.newTable(), time });
    onTestFinished(() => store.close());
    await store.ready();
    const passes = async (ms: number): Promise<void> => {
      // In steps, so that the server has time to answer what is asked on the way.
      for (let step = 0; step < ms / 200; step++) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await time.pass(200);
        // oxlint-disable-next-line no-await-in-loop
        await realDelay(20);
      }
    };
    // The sweep that follows the first use uses the connection, too.
    await passes(2000);
    proxy.resetOnce();
    await until('it is cut', () => proxy.connections === 0);
    await passes(6000);
    expect(proxy.connections).toBe(1);
  });
});

describe('a pool without a listener of errors', () => {
  test('does not end the process while a store uses it, and is as before when all are closed', async () => {
    const { proxy, pool, store } = await sceneWith();
    const other = postgresStore({ pool, table: server.newTable() });
    await spend(store, [token('x')]);
    proxy.resetOnce();
    await until('its connection was cut', () => pool.totalCount === 0);
    expect(pool.listenerCount('error')).toBe(1);
    await other.close();
    await other.close();
    expect(pool.listenerCount('error')).toBe(1);
    await store.close();
    expect(pool.listenerCount('error')).toBe(0);
  });
});
