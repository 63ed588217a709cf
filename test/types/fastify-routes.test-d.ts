// What the compiler must accept and refuse of Fastify's options; nothing runs it.
import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify } from 'fastify';

const app = fastify();
const handler = (): string => 'ok';
const limits = { count: 100, period: '1m' } as const;
const slots = concurrency({ key: everyone(), concurrency: 10 });
const limiter = createLimiter({ limits: { Orders: { key: everyone(), ...limits } } });

export const registered = [
  app.register(rateLimit, limits),
  app.register(rateLimit, { global: false }),
  app.register(rateLimit, { global: false, key: everyone(), fields: 'legacy' }),
  app.register(rateLimit, { limiter }),
];

// @ts-expect-error a typo is not an option
export const typo: RateLimitOptions = { cuont: 100, period: '1m' };
// @ts-expect-error routes without limits are not limited by nothing
export const none: RateLimitOptions = {};
// @ts-expect-error only `global: false` needs no limits
export const all: RateLimitOptions = { global: true };

app.get('/', { config: { rateLimit: { count: 100, period: '1m' } } }, handler);
app.get('/', { config: { rateLimit: { count: 100, period: '1m', cost: (request) => request.url.length } } }, handler);
app.get('/', { config: { rateLimit: { limit: quota({ key: everyone(), count: 100, per: 'day' }) } } }, handler);
app.get('/', { config: { rateLimit: { limit: slots, slotsUntil: 'handler' } } }, handler);
app.get('/', { config: { rateLimit: { limits: ['Orders'], cost: 10 } } }, handler);
app.get('/', { config: { rateLimit: { cost: 10, hook: 'preHandler' } } }, handler);
app.get('/', { config: { rateLimit: false } }, handler);
// @ts-expect-error a typo is not an option
app.get('/', { config: { rateLimit: { cuont: 100, period: '1m' } } }, handler);
// @ts-expect-error a function makes a concurrency limit
app.get('/', { config: { rateLimit: { concurrency: 10 } } }, handler);
// @ts-expect-error a limit has one kind
app.get('/', { config: { rateLimit: { limit: slots, count: 1, period: '1m' } } }, handler);
// @ts-expect-error a limit needs a period
app.get('/', { config: { rateLimit: { count: 100 } } }, handler);
// @ts-expect-error numbers belong to the limiter
app.get('/', { config: { rateLimit: { limits: ['Orders'], count: 100, period: '1m' } } }, handler);
// @ts-expect-error `max` is `count` here
app.get('/', { config: { rateLimit: { max: 100, period: '1m' } } }, handler);
