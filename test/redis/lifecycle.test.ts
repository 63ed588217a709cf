import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { run } from './processes/run.ts';
import { redisServer } from './servers/redis-server.ts';
import { until } from './servers/until.ts';
import { callsOf } from '@sluice/core/testing';

it.each([
  { state: 'up', clientIs: 'given' },
  { state: 'up', clientIs: 'ours' },
  { state: 'absent', clientIs: 'given' },
  { state: 'frozen', clientIs: 'ours' },
])('a process ends by itself after close, with Redis $state and a client that is $clientIs', async (given) => {
  const server = await redisServer({ absent: given.state === 'absent' });
  if (given.state === 'frozen') server.freeze();
  const child = run('ends.mjs', [String(server.port), given.clientIs]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const exit = once(child, 'exit');
  await once(child, 'message');
  const closedMs = performance.now();
  expect([await exit, output]).toEqual([[0, null], '']);
  expect(performance.now() - closedMs).toBeLessThan(20_000);
});

it.each([
  { state: 'up', timeoutMs: 60_000, outcome: 5 },
  { state: 'absent', timeoutMs: 300, outcome: 'ERR_STORE_UNAVAILABLE' },
])('a script that waits for Redis, which is $state, ends by itself as soon as it is done', async (given) => {
  const server = await redisServer({ absent: given.state === 'absent' });
  const child = run('script.mjs', [String(server.port), String(given.timeoutMs)]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const exit = once(child, 'exit');
  const [outcome] = (await once(child, 'message')) as unknown[];
  const closedMs = performance.now();
  expect([outcome, await exit, output]).toEqual([given.outcome, [0, null], '']);
  expect(performance.now() - closedMs).toBeLessThan(20_000);
});

it('a client that was given stays connected after close, and is never used', async () => {
  const server = await redisServer();
  const client = new Redis(server.port);
  await client.set('mine', '1');
  const store = redisStore({ client, log: false });
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 5, period: '1h' } }, store });
  await until('the store decides', async () => {
    const { failure } = await limiter.spend([{ limit: 'Orders', id: 'one' }]);
    return failure === undefined;
  });
  await limiter.close();
  await store.close();
  expect(client.status).toBe('ready');
  expect(await client.get('mine')).toBe('1');
  await until('only the client and the test are connected', async () => {
    const list = await server.call<string>('CLIENT', 'LIST', 'TYPE', 'normal');
    return list.trim().split('\n').length === 2;
  });
  client.disconnect();
});

it('a call after close is an error', async () => {
  const server = await redisServer();
  const store = redisStore({ url: server.url, log: false });
  const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 5, period: '1h' } }, store });
  await limiter.close();
  await store.close();
  await store.close();
  await expect(limiter.spend([{ limit: 'Orders', id: 'one' }])).rejects.toThrow(
    expect.objectContaining({ code: 'ERR_CLOSED' }),
  );
  await expect((async () => callsOf(store).check([]))()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});
