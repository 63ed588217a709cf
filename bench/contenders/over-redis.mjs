import FastifyStore from '@fastify/rate-limit/store/RedisStore.js';
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import KoaLimiter from 'koa-ratelimit/limiter/redis.js';
import { RedisStore } from 'rate-limit-redis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { createClient } from 'redis';
import { withMetrics, withMetricsAndSpans } from './opentelemetry.mjs';

/**
 * Decides through a Redis, by the contender's public call or, where it has none, the one that its middleware makes.
 *
 * @typedef {import('ioredis').Redis} Redis
 * @typedef {((id: string) => Promise<unknown>) & { verify?: () => void }} Decide Its `verify` throws when another than
 *   Redis has decided.
 * @typedef {(client: Redis, rate: import('./decider.ts').Rate) => Decide | Promise<Decide>} OverRedis
 */

/** @type {OverRedis} */
const sluiceByNodeRedis = ({ options: { host = 'localhost', port = 6379 } }, rate) =>
  sluice(createClient({ socket: { host, port } }), rate);

/** @type {OverRedis} */
const sluiceWithMetrics = (client, rate) => sluice(client, rate, withMetrics);

/** @type {OverRedis} */
const sluiceWithMetricsAndSpans = (client, rate) => sluice(client, rate, withMetricsAndSpans);

/** @type {(names: readonly string[]) => OverRedis} */
const sluiceOf = (names) => (client, rate) => sluice(client, rate, undefined, names);

/**
 * @param {import('@sluice/redis').RedisClient} client
 * @param {import('./decider.ts').Rate} rate
 * @param {(limiter: import('@sluice/core').Limiter) => void} watch Instruments the limiter.
 * @param {readonly string[]} names Of the limits.
 */
const sluice = async (client, { burst, intervalMs }, watch = () => undefined, names = ['First']) => {
  const store = redisStore({ client });
  const limiter = createLimiter({
    limits: Object.fromEntries(names.map((name) => [name, { key: accountId(), burst, count: 1, period: intervalMs }])),
    store,
    // With the default of 50 ms the fallback would decide while the machine is busy with something else.
    failure: { deadlineMs: 5000 },
  });
  watch(limiter);
  // It also looks for other numbers, which is once for a server, and takes 100 kB there: not of the ids that are counted.
  await limiter.ready();
  const verify = () => {
    const { decidedByPolicy, lastFailure } = limiter.status();
    if (decidedByPolicy > 0) throw new Error('Redis did not decide.', { cause: lastFailure?.cause });
  };
  const decide = (/** @type {string} */ id) =>
    limiter.spend(names.length === 1 ? [{ limit: 'First', id }] : names.map((limit) => ({ limit, id })));
  return Object.assign(decide, { verify });
};

/** @type {OverRedis} */
const rateLimiterFlexible = (storeClient, { burst, windowMs }) => {
  const limiter = new RateLimiterRedis({ storeClient, points: burst, duration: windowMs / 1000 });
  return (id) => limiter.consume(id);
};

/** @type {OverRedis} */
const rateLimitRedis = (client, { windowMs }) => {
  const store = new RedisStore({
    sendCommand: (/** @type {string} */ command, /** @type {string[]} */ ...args) =>
      /** @type {Promise<any>} */ (client.call(command, ...args)),
  });
  void store.init(/** @type {import('express-rate-limit').Options} */ ({ windowMs }));
  return (id) => store.increment(id);
};

/** @type {OverRedis} */
const fastifyRateLimit = (client, { burst, windowMs }) => {
  const store = new FastifyStore(false, false, client);
  return (id) =>
    new Promise((resolve, reject) => {
      store.incr(id, (error, result) => (error === null ? resolve(result) : reject(error)), windowMs, burst);
    });
};

/** @type {OverRedis} */
const koaRatelimit = (db, { burst: max, windowMs: duration }) => {
  return (id) => new KoaLimiter({ id, db, max, duration }).get();
};

const GCRA = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local told = {}
for i, key in ipairs(KEYS) do
  local tat = math.max(tonumber(redis.call('GET', key) or 0), now) + ARGV[1]
  told[i] = tat - now <= tonumber(ARGV[2]) and 1 or 0
  if told[i] == 1 then redis.call('SET', key, tat, 'PX', math.ceil((tat - now) / 1000)) end
end
return told`;

/**
 * @param {Redis} client
 * @param {import('./decider.ts').Rate} rate
 * @returns {(ids: readonly string[]) => Promise<readonly number[]>}
 */
function gcraScript(client, { burst, intervalMs }) {
  client.defineCommand('gcra', { lua: GCRA });
  const scripts = /** @type {{ gcra(keys: number, ...args: unknown[]): Promise<number[]> }} */ (
    /** @type {unknown} */ (client)
  );
  const args = [intervalMs * 1000, burst * intervalMs * 1000];
  return (ids) => scripts.gcra(ids.length, ...ids.map((id) => `gcra:${id}`), ...args);
}

/** @type {OverRedis} */
const minimalScript = (client, rate) => {
  const decide = gcraScript(client, rate);
  return (id) => decide([id]);
};

/** @type {OverRedis} */
const minimalScriptOfMany = (client, rate) => {
  const decide = gcraScript(client, rate);
  /** @type {{ id: string, tell: (told: number | undefined) => void }[]} */
  let waiting = [];
  const send = async () => {
    if (waiting.length === 0) return;
    const sent = waiting;
    waiting = [];
    const told = await decide(sent.map(({ id }) => id));
    for (const [i, { tell }] of sent.entries()) tell(told[i]);
  };
  return (id) =>
    new Promise((tell) => {
      if (waiting.length === 0) setImmediate(send);
      if (waiting.push({ id, tell }) === 32) void send();
    });
};

/** @type {OverRedis} */
const rawIncr = (client) => (id) => client.incr(`incr:${id}`);

/** Everyone who decides through Redis, in the order of a round. */
/** @type {Readonly<Record<string, OverRedis>>} */
export const overRedis = {
  'raw INCR': rawIncr,
  'a GCRA script': minimalScript,
  'a GCRA script, 32 ids': minimalScriptOfMany,
  Sluice: sluice,
  'Sluice by node-redis': sluiceByNodeRedis,
  'Sluice, two limits': sluiceOf(['First', 'Second']),
  'Sluice, eight limits': sluiceOf(Array.from('ABCDEFGH')),
  'Sluice, with OpenTelemetry': sluiceWithMetrics,
  'Sluice, with OpenTelemetry and spans': sluiceWithMetricsAndSpans,
  'rate-limiter-flexible': rateLimiterFlexible,
  'rate-limit-redis': rateLimitRedis,
  '@fastify/rate-limit': fastifyRateLimit,
  'koa-ratelimit': koaRatelimit,
};
