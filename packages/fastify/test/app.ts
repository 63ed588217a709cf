import { accountId, createLimiter, memoryStore, type Key, type Limiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify, type FastifyInstance, type FastifyRequest, type InjectOptions } from 'fastify';

/** The user that a request names. */
export const userKey: Key<FastifyRequest> = accountId(
  (request: FastifyRequest) => (request.headers['x-user'] as string | undefined) ?? 'nobody',
);

/** A limiter by user on a clock that stands still: so many requests a minute for each name. */
export function limiterOf(counts: Readonly<Record<string, number>>): Limiter<FastifyRequest> {
  const limits = Object.entries(counts).map(([name, count]) => [name, { key: userKey, count, period: '1m' }]);
  return createLimiter<FastifyRequest>({
    limits: Object.fromEntries(limits),
    store: memoryStore({ time: new FakeTime() }),
    log: false,
  });
}

/** The tokens that an id has left. */
export async function remaining(limiter: Limiter<FastifyRequest>, limit: string, id = 'nobody'): Promise<number> {
  return (await limiter.check([{ limit, id }])).remaining;
}

/** Asks so many times, one after the other. */
export async function statuses(
  app: FastifyInstance,
  times: number,
  ask: InjectOptions | string = '/',
): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push((await app.inject(ask)).statusCode);
  return all;
}

/** Registers and waits: what is defined next is defined after. */
export async function appWith(...registrations: RateLimitOptions[]): Promise<FastifyInstance> {
  const app = fastify();
  for (const options of registrations) await app.register(rateLimit, options);
  return app;
}
