import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { redisStore } from '@sluice/redis';

const { REDIS_URL } = process.env;

/** The user of each API key. A real service looks it up. */
const users = new Map([
  ['team-key', 'team'],
  ['trial-key', 'trial'],
]);

/** @returns {string | undefined} The user of a header field `Authorization`. */
export function userOf(/** @type {string | undefined} */ authorization = '') {
  return users.get(authorization.replace(/^Bearer /, ''));
}

/** The most tokens of one answer. */
export const MAX_OUTPUT = 500;

/** Dollars per million tokens, which are micro-dollars a token. */
const prices = { input: 3, output: 15 };

const key = accountId();
export const limiter = createLimiter({
  limits: {
    Requests: { key, burst: 20, count: 60, period: '1m' },
    Tokens: { key, burst: 5000, count: 10_000, period: '1m', maxDebt: 5000 },
    InProgress: concurrency({ key, concurrency: 3 }),
    // Micro-dollars: 20 dollars.
    Month: quota({ key, count: 20_000_000, per: 'month' }),
  },
  // A cent.
  overrides: { Month: { trial: { count: 10_000 } } },
  store: REDIS_URL === undefined ? memoryStore() : redisStore({ url: REDIS_URL }),
  // Without Redis no money is spent. A call takes seconds, so its decision may take one.
  failure: { onFailure: 'closed', deadlineMs: 1000 },
});

/** What a call costs at each limit. */
export const costs = /** @type {const} */ ({ Requests: 1, Tokens: 'tokens', InProgress: 1, Month: prices });
