import { createLimiter, accountId } from '@sluice/core';
import { redisStore, type RedisStoreEvent } from '@sluice/redis';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { order } from './support/orders.ts';
import { readyStore } from './support/ready-store.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();

test('the client that was given is neither used nor closed', async () => {
  const client = new Redis(server.port);
  await client.ping();
  const store = await readyStore({ client });
  await callsOf(store).spend([order('7')]);
  await store.close();
  expect(await client.ping()).toBe('PONG');
  client.disconnect();
});

test('a client that was not connected is not connected by us', async () => {
  const client = new Redis(server.port, { lazyConnect: true });
  const store = await readyStore({ client });
  await callsOf(store).spend([order('7')]);
  expect(client.status).toBe('wait');
  await store.close();
});

test('close ends our own connections, and every later call is ERR_CLOSED', async () => {
  const clients = async () => (await server.call<string>('CLIENT', 'LIST')).trim().split('\n').length;
  const before = await clients();
  const store = await readyStore({ url: server.url });
  expect(await clients()).toBe(before + 1);
  await store.close();
  await until('the connection is gone', async () => (await clients()) === before);
  await expect(callsOf(store).spend([order('7')])).rejects.toMatchObject({
    code: 'ERR_CLOSED',
    message: 'This Redis store was closed. Make a new one with redisStore().',
  });
  expect(store.status().state).toBe('closed');
});

test('a call in progress when the store is closed is answered, or fails as in an outage', async () => {
  const store = await readyStore({ url: server.url });
  const [asked] = await Promise.allSettled([callsOf(store).spend([order('closing')]), store.close()]);
  const outcome = asked.status === 'fulfilled' ? asked.value : asked.reason;
  expect(outcome).toMatchObject(
    asked.status === 'fulfilled' ? { levelsTicks: [0] } : { code: 'ERR_STORE_UNAVAILABLE' },
  );
});

test('a wrong option leaves no connection behind', async () => {
  const own = await redisServer();
  expect(() => redisStore({ url: own.url, log: console as unknown as false })).toThrow(/`log` must be/);
  // A store that is made later is connected later.
  const store = await readyStore({ url: own.url });
  expect((await own.call<string>('CLIENT', 'LIST')).trim().split('\n')).toHaveLength(2);
  await store.close();
});

test.each([0, -1, NaN, Infinity, 60_001, '50'])(
  'a deadline of %s is wrong use, and sends nothing',
  async (deadlineMs) => {
    const store = await readyStore({ url: server.url });
    const { calls } = store.status().counts;
    for (const asked of [
      callsOf(store).spend([order('7')], deadlineMs as never),
      callsOf(store).check([], deadlineMs as never),
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(asked).rejects.toMatchObject({
        code: 'ERR_OPTION',
        message: expect.stringMatching(
          /^`deadlineMs` must be a number of milliseconds above 0, at most 60000, but was/,
        ),
      });
    }
    expect(store.status().counts.calls).toBe(calls);
    await store.close();
  },
);

test('a hash tag that throws for one id is the error of that request, and every other is decided', async () => {
  const store = await readyStore({
    url: server.url,
    hashTag: ({ id }) => {
      if (id === 'odd') throw new TypeError('not that one');
      return undefined;
    },
  });
  const limits = { Orders: { key: accountId(), count: 3, period: '1h' } };
  const limiter = createLimiter({ limits, store, failure: { onFailure: 'closed' } });
  for (let i = 0; i < 5; i++) {
    // oxlint-disable-next-line no-await-in-loop -- more in a row than a breaker takes
    await expect(limiter.spend([{ limit: 'Orders', id: 'odd' }])).rejects.toMatchObject({ code: 'ERR_OPTION' });
  }
  expect((await limiter.spend([{ limit: 'Orders', id: '7' }])).outcome).toBe('allowed');
  expect(await callsOf(store).check([])).toMatchObject({ levelsTicks: [] });
  await limiter.close();
  await store.close();
});

test('closing twice is closing once', async () => {
  const store = await readyStore({ url: server.url });
  await Promise.all([store.close(), store.close()]);
  await expect(store.close()).resolves.toBeUndefined();
});

test('the status reports the connection and the number of calls', async () => {
  const store = await readyStore({ url: server.url });
  await callsOf(store).spend([order('status', 5)]);
  await callsOf(store).spend([order('status')]);
  await callsOf(store).spend([order('status')]);
  expect(store.status()).toMatchObject({
    state: 'up',
    servers: [{ server: `127.0.0.1:${server.port}`, ready: true }],
    counts: { batches: 3, rememberedDenials: 1, calls: 2, lostRefunds: 0 },
  });
  await store.close();
});

test('changes of the connection are events, and are not logged', async () => {
  const mortal = await redisServer();
  const events: RedisStoreEvent[] = [];
  const lines: string[] = [];
  const store = await readyStore({
    url: mortal.url,
    onEvent: (event) => events.push(event),
    log: (line) => lines.push(line),
  });
  await mortal.kill();
  await until('the connection is lost', () =>
    events.some((event) => event.type === 'connection' && event.state === 'down'),
  );
  await store.close();
  expect(lines).toEqual([]);
});

test('a limiter counts on it together with another process', async () => {
  const limits = { Orders: { key: accountId(), count: 3, period: '1h' } };
  const [one, two] = await Promise.all([
    readyStore({ url: server.url, prefix: 'shared:' }),
    readyStore({ url: server.url, prefix: 'shared:' }),
  ]);
  const limiters = [createLimiter({ limits, store: one }), createLimiter({ limits, store: two })] as const;
  const spend = (limiter: 0 | 1) => limiters[limiter].spend([{ limit: 'Orders', id: '7' }]);
  const decision = await spend(0);
  await spend(1);
  expect([(await spend(0)).remaining, (await spend(1)).allowed]).toEqual([0, false]);
  await limiters[0].refund(decision);
  // The other process remembers its refusal for up to a second.
  await until('it is let through', async () => (await spend(1)).allowed);
  await Promise.all([one.close(), two.close()]);
});

test('with Redis down, a line in the log says why before the first request, and requests add none', async () => {
  const lines: string[] = [];
  const store = redisStore({ url: 'redis://127.0.0.1:1' });
  const limits = { Orders: { key: accountId(), count: 5, period: '1h' } };
  const limiter = createLimiter({ limits, store, log: (line) => lines.push(line) });
  await until('it is refused', () => lines.length > 0);
  for (let i = 0; i < 2; i++) expect((await limiter.spend([{ limit: 'Orders', id: '7' }])).allowed).toBe(true);
  expect(lines).toEqual([
    expect.stringMatching(/^Sluice: The store is failing \(.*ECONNREFUSED.*\)\. Until.*limiter\.ready\(\)\.$/),
  ]);
  await limiter.close({ store: true });
});
