/** @import { Request } from 'express' */
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import { LEASED, NUMBERS, PROCESSES } from './processes.js';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

export const store = LEASED ? leasedStore({ url, gateways: PROCESSES }) : redisStore({ url });

/** The key of a client. A real service looks it up: one that a client invents would get a full bucket. */
const keyOf = (/** @type {Request} */ req) => req.get('x-api-key') ?? null;

export const limiter = createLimiter({
  limits: {
    RequestsPerAPIKey: {
      key: accountId(keyOf).or(clientNetwork()),
      ...NUMBERS,
    },
  },
  store,
  // Ten times what it is by default: here the flood, four processes and Redis share one machine.
  failure: { deadlineMs: 500, onFailure: 'local', gateways: PROCESSES },
});
