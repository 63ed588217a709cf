import { clientNetwork, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';

/** Tokens of a language model: an answer takes 100 in advance, and gives back what it did not use. */
export const limiter = createLimiter({
  limits: { TokensPerClient: { key: clientNetwork(), count: 100_000, period: '30d' } },
  store: redisStore({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }),
  // More than the default: here the clients, the server and Redis share one machine.
  failure: { deadlineMs: 2000 },
});

// Redis decides from the first request on. Without Redis the server does not start, and the message names the cause.
await limiter.ready({ timeoutMs: 3000 }).catch((/** @type {Error} */ error) => {
  console.error(error.message);
  process.exit(1);
});

export const IN_ADVANCE = 100;
