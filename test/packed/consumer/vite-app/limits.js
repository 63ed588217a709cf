import { createLimiter, everyone } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { limitFetch } from '@sluice/fetch';
import { rateLimitStorage } from '@sluice/nestjs';
import { redisStore } from '@sluice/redis';

const store = (globalThis.limitStore ??= redisStore({ url: process.env.REDIS_URL }));
// A busy machine may take longer than the default of 50 ms.
const failure = { deadlineMs: 10_000 };
const options = { store, failure, key: everyone(), count: 100, period: '1h', log: globalThis.log };

/** Everything that is made of a store. */
export const limiter = createLimiter({
  limits: { Shared: { key: everyone(), count: 100, period: '1h' } },
  store,
  failure,
  log: globalThis.log,
});
export const limited = limitFetch({ ...options, name: 'ByFetch', address: () => null })(() => new Response('ok'));
export const middleware = rateLimit({ ...options, name: 'InExpress' });
export const throttler = rateLimitStorage({ store, failure, log: globalThis.log });
