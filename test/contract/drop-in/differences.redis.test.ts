import fastifyRateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import { rateLimitStore } from '@sluice/drop-in/fastify-rate-limit';
import { redisStore } from '@sluice/redis';
import Fastify, { type FastifyInstance } from 'fastify';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';

const LIMIT = { max: 2, timeWindow: '1 hour' };

/** How many of three requests for each path pass, one after another. */
async function passed(app: FastifyInstance, paths: readonly string[]): Promise<number[]> {
  const all: number[] = [];
  for (const path of paths) {
    const answers = [await app.inject(path), await app.inject(path), await app.inject(path)];
    all.push(answers.filter(({ statusCode }) => statusCode === 200).length);
  }
  return all;
}

test('on Redis, too, @fastify/rate-limit itself counts each route of a group, and all handlers together', async () => {
  const server = await redisServer();
  const redis = new Redis(server.port);
  running.add({ close: async () => redis.disconnect() });
  const store = redisStore({ client: redis, log: false });
  running.add({ close: () => store.close() });
  await store.ready();
  const answers = async (options: RateLimitPluginOptions): Promise<number[]> => {
    const app = Fastify();
    running.add({ close: () => app.close() });
    await app.register(fastifyRateLimit, { global: false, ...options });
    for (const path of ['/send', '/again'])
      app.get(path, { config: { rateLimit: { ...LIMIT, groupId: 'code' } } }, () => path);
    for (const path of ['/login', '/code']) app.get(path, { preHandler: app.rateLimit(LIMIT) }, () => path);
    return passed(app, ['/send', '/again', '/login', '/code']);
  };
  const failure = { deadlineMs: 20_000, onFailure: 'closed' } as const;
  expect(await answers({ redis })).toEqual([2, 2, 2, 0]);
  expect(await answers({ store: rateLimitStore({ store, failure, log: false }) })).toEqual([2, 0, 2, 2]);
});
