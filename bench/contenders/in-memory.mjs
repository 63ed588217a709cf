import { bareMap } from './bare-map.mjs';
import { expressRateLimit } from './express-rate-limit.mjs';
import { fastifyRateLimit } from './fastify-rate-limit.mjs';
import { koaRatelimit } from './koa-ratelimit.mjs';
import { noOp } from './no-op.mjs';
import { rateLimiterFlexible } from './rate-limiter-flexible.mjs';
import { kindsOfSluice, quietSluice, sluice } from './sluice.mjs';

/** Everyone who decides in this process, in the order of a round. */
/** @type {Readonly<Record<string, import('./decider.ts').Contender>>} */
export const inMemory = {
  'no-op': noOp,
  'bare Map': bareMap,
  Sluice: sluice,
  'express-rate-limit': expressRateLimit,
  '@fastify/rate-limit': fastifyRateLimit,
  'koa-ratelimit': koaRatelimit,
  'rate-limiter-flexible': rateLimiterFlexible,
};

/** Other kinds of limits, which are compared with a rate. */
/** @type {Readonly<Record<string, import('./decider.ts').Contender>>} */
export const kinds = kindsOfSluice;

/** A service with few requests, which is compared with a busy one. */
/** @type {Readonly<Record<string, import('./decider.ts').Contender>>} */
export const quiet = quietSluice;

/** What the others are compared with. */
export const YARDSTICK = 'bare Map';

/** @param {string} name */
export function contenderNamed(name) {
  const contender = inMemory[name] ?? kinds[name] ?? quiet[name];
  if (contender === undefined) throw new Error(`No contender is named ${name}.`);
  return contender;
}
