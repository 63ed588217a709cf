/** @import { Request } from 'express' */
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { PROCESSES } from './processes.js';

export const store = redisStore({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' });

export const limiter = createLimiter({
  limits: {
    RequestsPerAPIKey: {
      key: accountId((/** @type {Request} */ req) => req.get('x-api-key') ?? null).or(clientNetwork()),
      burst: 100,
      count: 10,
      period: '1s',
    },
  },
  store,
  // Ten times what it is by default: here the flood, four processes and Redis share one machine.
  failure: { deadlineMs: 500, onFailure: 'local', gateways: PROCESSES },
});
