import { callsOf, FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { order, owed } from './support/orders.ts';
import { readyStore } from './support/ready-store.ts';

const server = await redisServer();

test('a denial is remembered by the time of the store', async () => {
  const time = new FakeTime();
  const store = await readyStore({ url: server.url, time });
  await callsOf(store).spend([order('remembered', 5)]);
  await callsOf(store).spend([order('remembered')]);
  const remembered: number[] = [];
  for (const ms of [0, 999.999, 0.001]) {
    time.advance(ms);
    await callsOf(store).spend([order('remembered')]);
    remembered.push(store.status().counts.rememberedDenials);
  }
  expect(remembered).toEqual([1, 2, 2]);
});

test('a call misses its deadline by the time of the store', async () => {
  const proxy = await tcpProxy(server);
  const time = new FakeTime();
  const store = await readyStore({ url: proxy.url, time });
  proxy.stall();
  let outcome: unknown;
  const call = callsOf(store)
    .spend([order('late')], 50)
    .catch((error: unknown) => (outcome = error));
  await time.pass(49);
  expect(outcome).toBeUndefined();
  await time.pass(1);
  await call;
  expect(outcome).toMatchObject({ code: 'ERR_STORE_DEADLINE' });
});

test('buckets follow the clock of Redis, whatever the time of the store', async () => {
  const time = new FakeTime();
  const store = await readyStore({ url: server.url, time, rememberDenialsMs: 0 });
  await callsOf(store).spend([order('buckets', 5)]);
  time.advance(3_600_000);
  expect(owed(await callsOf(store).spend([order('buckets')]))).toEqual([5]);
  time.set(-3_600_000);
  expect(owed(await callsOf(store).spend([order('buckets')]))).toEqual([5]);
});

test('dates of the status are those of the store’s wall clock', async () => {
  const time = new FakeTime(Date.parse('2026-07-01T12:00:00Z'));
  const store = await readyStore({ url: server.url, time });
  expect(store.status().since).toEqual(new Date('2026-07-01T12:00:00Z'));
});
