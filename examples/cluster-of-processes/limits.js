/** @import { Request } from 'express' */
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import { accountOf } from './keys.js';
import { LEASED, NUMBERS, PROCESSES } from './processes.js';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';

export const store = LEASED ? leasedStore({ url, gateways: PROCESSES }) : redisStore({ url });

/** The account of a request; null without a key that this service has issued: it then counts for its address. */
const account = (/** @type {Request} */ req) => accountOf(req.get('x-api-key') ?? '') ?? null;

export const limiter = createLimiter({
  limits: {
    RequestsPerAPIKey: {
      key: accountId(account).or(clientNetwork()),
      ...NUMBERS,
    },
  },
  store,
  // Ten times what it is by default: here the flood, four processes and Redis share one machine.
  failure: { deadlineMs: 500, onFailure: 'local', gateways: PROCESSES },
});
