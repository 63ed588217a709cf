import { memoryStore } from '@sluice/core';
import { rateLimitStore as expressStore } from '@sluice/drop-in/express-rate-limit';
import { rateLimitStore as fastifyStore } from '@sluice/drop-in/fastify-rate-limit';
import { redisStore } from '@sluice/redis';
import { expressRateLimit } from './express-rate-limit.mjs';
import { fastifyRateLimit } from './fastify-rate-limit.mjs';
import { overRedis } from './over-redis.mjs';
import { kindsOfSluice } from './sluice.mjs';

/**
 * What a limiter of another library calls for a request, on a store of ours.
 *
 * @typedef {import('./decider.ts').Rate} Rate
 * @typedef {import('./decider.ts').Contender} Contender
 * @typedef {(store: import('@sluice/core').Store, rate: Rate) => (id: string) => unknown} OnStore
 */

/** A decision that Redis does not make ends the run. The machine may be busy with something else for long. */
const failure = /** @type {const} */ ({ onFailure: 'closed', deadlineMs: 5000 });

/** @type {OnStore} */
function expressOn(store, { burst, intervalMs }) {
  const counter = expressStore({ store, failure });
  const skips = { skipFailedRequests: false, skipSuccessfulRequests: false };
  counter.init({ windowMs: burst * intervalMs, limit: burst, ...skips });
  return (id) => counter.increment(id);
}

/** @type {OnStore} */
function fastifyOn(store, { burst, intervalMs }) {
  const counter = new (fastifyStore({ store, failure }))({});
  return (id) =>
    new Promise((resolve, reject) => {
      const callback = (/** @type {Error | null} */ error, /** @type {any} */ state) =>
        error === null ? resolve(state) : reject(error);
      counter.incr(id, callback, burst * intervalMs, burst);
    });
}

/** The plugin wraps each call in a promise. */
/** @type {Contender} */
const fastifyAwaited = {
  ...fastifyRateLimit,
  decider: (options) => {
    const { decide, allowed } = fastifyRateLimit.decider(options);
    return { decide: (id) => new Promise((resolve) => resolve(decide(id))), allowed };
  },
};

/**
 * @param {OnStore} on
 * @param {(answer: any) => number} hitsOf
 * @returns {Contender}
 */
function inMemory(on, hitsOf) {
  return {
    answersAtOnce: false,
    bounded: true,
    decider: ({ rate, maxKeys }) => ({
      decide: on(memoryStore({ maxKeys }), rate),
      allowed: (answer) => hitsOf(answer) <= rate.burst,
    }),
  };
}

/**
 * @param {OnStore} on
 * @returns {import('./over-redis.mjs').OverRedis}
 */
function byRedis(on) {
  return async (client, rate) => {
    const store = redisStore({ client });
    await store.ready();
    const decide = on(store, rate);
    return async (id) => decide(id);
  };
}

/** Our store, the limiter's own, and a limiter of Sluice by itself, for each limiter. */
export const dropIn = {
  'express-rate-limit': {
    memory: {
      Sluice: inMemory(expressOn, ({ totalHits }) => totalHits),
      'its own': expressRateLimit,
      'limit.spend': kindsOfSluice['Sluice, by a handle'],
    },
    Redis: {
      Sluice: byRedis(expressOn),
      'its own': overRedis['rate-limit-redis'],
      'limiter.spend': overRedis['Sluice'],
    },
  },
  '@fastify/rate-limit': {
    memory: {
      Sluice: inMemory(fastifyOn, ({ current }) => current),
      'its own': fastifyAwaited,
      'limit.spend': kindsOfSluice['Sluice, by a handle'],
    },
    Redis: {
      Sluice: byRedis(fastifyOn),
      'its own': overRedis['@fastify/rate-limit'],
      'limiter.spend': overRedis['Sluice'],
    },
  },
};
