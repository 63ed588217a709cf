import { createLimiter, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { rateLimit } from '@sluice/express';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { inline, KEY, limiterOf, NUMBERS, testRemedies, type Options } from './remedies.ts';

const shared = (given: Options) => rateLimit({ limiter: limiterOf(), ...given } as never);
const two = () => limiterOf({ limits: { A: { key: KEY, ...NUMBERS }, B: { key: KEY, ...NUMBERS } } });

testRemedies({
  'a count in quotes': {
    make: inline,
    options: { count: '100' },
    message: "`rateLimit.count` must be a whole number from 1 to 1000000000, but was '100'. Write count: 100.",
    remedy: 'count: 100',
  },
  'a count as a rate': {
    make: inline,
    options: { count: '10/s' },
    message:
      "`rateLimit.count` must be a whole number from 1 to 1000000000, but was '10/s'. Write count: 10, period: '1s'.",
    remedy: "count: 10, period: '1s'",
  },
  'a count by a function': {
    make: inline,
    options: { count: () => 5 },
    message:
      "`rateLimit.count` must be a whole number from 1 to 1000000000, but was [Function: count]. The numbers of a limit are fixed when the server starts. Those of a client or a plan are overrides, which may be a function: count: 100, period: '1m' for all others, and overrides: (limit, id, request) => …",
    remedy: "count: 100, period: '1m'",
  },
  'a name and tokens in a use of a limit': {
    make: (given) => rateLimit({ limiter: two(), limits: [given] } as never),
    options: { name: 'A', tokens: 1 },
    message:
      "`limits[…]` has no option `name` (its value was 'A'). `name` is `limit` here. It has no option `tokens` (its value was 1). `tokens` is `cost` here. Options: limit, cost, mode, share, settle, settleAborted.",
  },
  'a cost in quotes': {
    make: (given) => rateLimit({ limiter: two(), limits: [{ limit: 'A', ...given }] } as never),
    options: { cost: '1' },
    message: '`cost` of limit "A" must be a whole number from 0 up, but was \'1\'. Write cost: 1.',
    remedy: 'cost: 1',
  },
  'a client of Redis as the store': {
    make: inline,
    options: { name: 'Requests', store: new Redis({ lazyConnect: true }) },
    message:
      "`store` must be a store, such as memoryStore(): it has no method `run`. For a Redis client, write store: redisStore({ client }), from '@sluice/redis'.",
  },
  'a pool of pg as the store': {
    make: inline,
    options: { name: 'Requests', store: new Pool() },
    message:
      "`store` must be a store, such as memoryStore(): it has no method `run`. For a pool of pg, write store: postgresStore({ pool }), from '@sluice/postgres'.",
  },
  'the address of a Redis as the store': {
    make: inline,
    options: { name: 'Requests', store: 'redis://127.0.0.1' },
    message:
      "`store` must be a store, such as memoryStore(): it has no method `run`. For a Redis URL, write store: redisStore({ url }), from '@sluice/redis'.",
  },
  'the address of a PostgreSQL as the store': {
    make: inline,
    options: { name: 'Requests', store: 'postgres://127.0.0.1/app' },
    message:
      "`store` must be a store, such as memoryStore(): it has no method `run`. For a PostgreSQL URL, write store: postgresStore({ connectionString }), from '@sluice/postgres'.",
  },
  'a limit beside numbers': {
    make: inline,
    options: { limit: concurrency({ key: KEY, concurrency: 10 }) },
    message: '`rateLimit.count` must be left out beside `limit`: give it to the function that makes the limit.',
  },
  'a plain object as the limit': {
    make: (given) => rateLimit(given as never),
    options: { limit: NUMBERS },
    message:
      "`rateLimit.limit` must be a limit of a kind, such as concurrency({ key, concurrency: 10 }), but was { count: 2, period: '1m' }. The numbers of a rate are options themselves: rateLimit({ count: 100, period: '1m' }).",
  },
  'a rate in one text': {
    make: inline,
    options: { rate: '10/s' },
    message:
      "`rateLimit` has no option `rate` (its value was '10/s'). `rate` is `count` with its `period` here: ten a second are count: 10, period: '1s'. All 38 options are in docs/limits/options.md.",
  },
  'the delay of express-slow-down': {
    make: inline,
    options: { delayMs: 500 },
    message:
      "`rateLimit` has no option `delayMs` (its value was 500). `delayMs` is `maxWait` here, the longest wait for a turn: e.g. burst: 10, maxWait: '2s'. All 38 options are in docs/limits/options.md.",
  },
  'the numbers of a limit, given to createLimiter': {
    make: (given) => createLimiter(given as never),
    options: { max: 5 },
    message:
      "`createLimiter` has no option `max` (its value was 5). `max` belongs to a limit, e.g. limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }. Options: limits, overrides, overridesDeadlineMs, onDecision, store, trustedProxies, addressHeader, decodeNat64, failure, onEvent, log, time.",
  },
  'a count that is NaN': {
    make: inline,
    options: { count: Number.NaN },
    message:
      "`rateLimit.count` must be a whole number from 1 to 1000000000, but was NaN. NaN comes from a calculation or a Number() of text, often of an environment variable that is not set. For example count: 100, period: '1m'.",
    remedy: "count: 100, period: '1m'",
  },
  'a period as a number of seconds': {
    make: inline,
    options: { period: 60 },
    message:
      "`rateLimit.period` must be a duration of whole microseconds from 1ms to 366 days, but was 60. Write its unit: '60s' for seconds, '60ms' for milliseconds.",
  },
  'a period in words': {
    make: inline,
    options: { period: '1 minute' },
    message:
      "`rateLimit.period` must be a duration of whole microseconds from 1ms to 366 days, but was '1 minute'. Write period: '1m'.",
    remedy: "period: '1m'",
  },
  'no options at all': {
    make: (given) => rateLimit(given as never),
    options: undefined,
    message: "`rateLimit` must be an object, but was undefined. For example rateLimit({ count: 100, period: '1m' }).",
    remedy: "{ count: 100, period: '1m' }",
  },
  'an unknown dialect': {
    make: inline,
    options: { fields: 'draft-8' },
    message:
      "`fields` must be 'draft-11' or 'draft-7' or 'draft-6' or 'legacy', but was 'draft-8'. For example fields: 'draft-11', which is the default, or fields: false for no RateLimit fields.",
    remedy: 'fields: false',
  },
  'a share in percent': {
    make: inline,
    options: { share: 80 },
    message:
      '`share` of limit "default" must be a number above 0, at most 1, but was 80. For example share: 0.8 for a request that may fill 80 % of the bucket. For the whole bucket, leave it out.',
    remedy: 'share: 0.8',
  },
  'a switch in quotes': {
    make: inline,
    options: { shadow: 'false' },
    message: "`shadow` must be true or false, but was 'false'. Write shadow: false, or leave it out.",
    remedy: 'shadow: false',
  },
  'a jitter in percent': {
    make: inline,
    options: { retryJitter: 3 },
    message:
      '`retryJitter` must be a number from 0 to 0.03, but was 3. It is a share of the wait, e.g. retryJitter: 0.03 for up to 3 % more.',
    remedy: 'retryJitter: 0.03',
  },
  'several unknown options': {
    make: inline,
    options: { windowMs: 60_000, max: 5, coutn: 1 },
    message:
      "`rateLimit` has no option `windowMs` (its value was 60000). `windowMs` is `period` here, e.g. period: '1m'. " +
      'It has no option `max` (its value was 5). `max` is `count` here (tokens that come back every period; `burst` is how many may come at once). ' +
      'It has no option `coutn` (its value was 1). Did you mean `count`? ' +
      'All 38 options are in docs/limits/options.md.',
  },
  'an inline key as text': {
    make: inline,
    options: { key: 'ip' },
    message:
      "`rateLimit.key` must be a key, but was 'ip'. It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).",
    remedy: 'key: clientNetwork()',
  },
  'an unknown inline policy': {
    make: inline,
    options: { onFailure: 'shut' },
    message:
      "`rateLimit.onFailure` must be 'local' or 'closed' or 'open', but was 'shut'. For example onFailure: 'local'.",
    remedy: "onFailure: 'local'",
  },
  'inline overrides with a wrong number': {
    make: inline,
    options: { overrides: { '203.0.113.7': { count: '5', period: '1s' } } },
    message:
      "`rateLimit.overrides['203.0.113.7'].count` must be a whole number from 1 to 1000000000, but was '5'. Write count: 5.",
  },
  'inline overrides of an invalid id': {
    make: inline,
    options: { overrides: { localhost: 'unlimited' } },
    message:
      "`rateLimit.overrides` lists the id 'localhost': `id` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'localhost'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
  },
  'an inline cost above the burst': {
    make: inline,
    options: { cost: 3 },
    message:
      '`cost` of limit "default" must be at most 2, the smallest burst of the limit and its overrides, but was 3. A larger cost could never pass. Raise the burst or lower the cost.',
  },
  'an inline settle that is a number': {
    make: inline,
    options: { settle: 5 },
    message:
      '`rateLimit.settle` must be a function, but was 5. It returns the true cost, e.g. settle: (req, res) => (res.statusCode === 401 ? 1 : 0).',
    remedy: 'settle: (req, res) => (res.statusCode === 401 ? 1 : 0)',
  },
  'an inline limit on a store, without a name': {
    make: inline,
    options: { store: memoryStore() },
    message:
      "`name` must be given with a store, but was undefined. Buckets are stored under it: two limits with one name would share them. For example name: 'RequestsPerClient'.",
    remedy: "name: 'RequestsPerClient'",
  },
  'a middleware without limits, on a limiter with two': {
    make: (given) => rateLimit({ limiter: two(), ...given } as never),
    options: {},
    message:
      "`limits` must be given, but was undefined. The limiter has 2 limits. Write those that apply here: limits: ['A', 'B'].",
    remedy: "limits: ['A', 'B']",
  },
  'limits as one name': {
    make: shared,
    options: { limits: 'Orders' },
    message: "`limits` must be an array of at least one limit, but was 'Orders'. For example limits: ['Orders'].",
    remedy: "limits: ['Orders']",
  },
  'a limit of a middleware without a name': {
    make: shared,
    options: { limits: [{}] },
    message: '`limit` must be the name of a limit, but was undefined. Limits: Orders.',
  },
  'a limit of a middleware with a typo': {
    make: shared,
    options: { limits: ['Order'] },
    message: "No limit is named 'Order'. Did you mean `Orders`? Limits: Orders.",
  },
});
