import { loadLimits, watchLimits, type LiveLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, memoryStore, type Decision } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { domain } from '@sluice/domains';
import { rateLimit as rateLimitExpress } from '@sluice/express';
import { rateLimit as rateLimitFastify } from '@sluice/fastify';
import { rateLimit as rateLimitKoa } from '@sluice/koa';
import { limitedFetch } from '@sluice/outgoing';
import { redisStore } from '@sluice/redis';
import express, { type Request, type RequestHandler } from 'express';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import Koa from 'koa';

const limiter = createLimiter({
  limits: {
    RequestsPerIPAddress: { key: ipAddress(), burst: 20, count: 20, period: '1s' },
    OrdersPerAccount: { key: accountId((req: Request) => req.get('account') ?? null), count: 300, period: '180m' },
  },
  store: memoryStore({ time: new FakeTime() }),
});

export async function spent(): Promise<Decision> {
  return limiter.spend([{ limit: 'OrdersPerAccount', id: '12345678', cost: 1 }]);
}

const app = express();
app.use(rateLimitExpress({ limiter, limits: ['RequestsPerIPAddress'] }));
app.post(
  '/orders',
  rateLimitExpress({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: (req) => (req.get('bulk') ? 10 : 1) }] }),
  (req, res) => void res.json(req.rateLimit?.remaining),
);

interface Params {
  id: string;
}
const limit = rateLimitExpress({ count: 100, period: '1m', trustedProxies: undefined });
app.get<Params>('/orders/:id', limit, (req, res) => void res.send(req.params.id));
export const handlers: RequestHandler<Params>[] = [limit];

export const typedKoa = new Koa<{ user: string }, { db: string }>().use(rateLimitKoa({ count: 100, period: '1m' }));

const koa = new Koa();
koa.use(rateLimitKoa({ count: 100, period: '1m', skip: (ctx) => ctx.path === '/health' }));
koa.use((ctx) => {
  ctx.body = String(ctx.state.rateLimit?.remaining);
});

const fastify = Fastify();
void fastify.register(rateLimitFastify, { count: 100, period: '1m' });
fastify.get('/search', { config: { rateLimit: { cost: 5 } } }, (request) => request.rateLimit?.remaining);
fastify.get('/health', { config: { rateLimit: false } }, () => 'ok');

export async function live(): Promise<LiveLimits> {
  const loaded = await loadLimits({
    defaults: 'limits.yaml',
    keys: { Orders: accountId((req: Request) => req.get('account') ?? null), OrdersPerDomain: domain() },
  });
  return watchLimits(createLimiter({ ...loaded, store: redisStore({ client: new Redis() }) }), loaded);
}

export const calls: typeof fetch = limitedFetch({
  scheduler: createScheduler(limiter),
  limits: ['OrdersPerAccount'],
});

// @ts-expect-error a limit needs a period
rateLimitExpress({ count: 100 });
