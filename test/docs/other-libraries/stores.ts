import { createServer } from 'node:net';
import { createLimiter, type LimiterOptions, type Store } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import { reservedPort } from '../../redis/servers/port.ts';
import { redisServer, type RedisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';

/** What both need: a client of a Redis, and the options of a limiter on it. */
interface Shared {
  readonly client: Redis;
  readonly limiter: Pick<LimiterOptions, 'store' | 'failure' | 'log'>;
}

/** It ends with the worker. */
let server: Promise<RedisServer> | undefined;

/** A Redis without keys, which answers however busy this machine is. */
export async function onRedis(): Promise<Shared> {
  const { url } = await (server ??= running.leftRunning(() => redisServer()));
  const client = clientOf(url);
  await client.flushall();
  const limiter = { store: storeOf(url), failure: { deadlineMs: 10_000 }, log: false } as const;
  await createLimiter({ limits: {}, ...limiter }).ready();
  return { client, limiter };
}

/** An address at which no Redis is. */
export async function onNothing(): Promise<Shared> {
  const url = `redis://127.0.0.1:${await reservedPort()}`;
  return { client: clientOf(url), limiter: { store: storeOf(url), log: false } };
}

/** One that takes connections, and never answers. */
export async function onSilence(): Promise<Shared> {
  const port = await reservedPort();
  const sockets = new Set<{ destroy(): void }>();
  const silent = createServer((socket) => void sockets.add(socket)).listen(port, '127.0.0.1');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const url = `redis://127.0.0.1:${port}`;
  return { client: clientOf(url), limiter: { store: storeOf(url), log: false } };
}

function clientOf(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined);
  onTestFinished(() => client.disconnect());
  return client;
}

function storeOf(url: string): Store {
  const store = redisStore({ url });
  onTestFinished(() => store.close?.());
  return store;
}
