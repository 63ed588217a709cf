import type { Hints } from './options.ts';

const PERIOD_MS = "is `period` here, e.g. period: '1m'";
const PERIOD_SECONDS = "is `period` here, and a number of it means milliseconds, not seconds: e.g. period: '60s'";
const COUNT = 'is `count` here (tokens that come back every period; `burst` is how many may come at once)';
const BURST = 'is `burst` here, how many may come at once; `count` and `period` say how many come back in which time';
const CONCURRENCY = 'is `concurrency` here, e.g. concurrency: 10';
const KEY = 'is `key` here, e.g. key: accountId((req) => req.user?.id ?? null)';

const ON_DENIED = 'is `onDenied` here: it writes an answer of your own';
const ON_DECISION = 'is `onDecision` here: (decision) => { if (!decision.allowed) … }';
const LEGACY_FIELDS = "is `fields` here, e.g. fields: 'legacy'";
const DRAFT_FIELDS = "is `fields` here, e.g. fields: 'draft-11'";
const NAME = 'is `name` here: clients see it, and buckets are kept under it';
const NO_BLOCK =
  'has no counterpart: a client that waits for Retry-After passes. A ban is a limit of its own, which you charge';
const REDIS_STORE = 'belongs to the store here: store: redisStore({ client })';
const BLOCK_LIST = "is an override here, e.g. overrides: { '203.0.113.7': 'blocked' }";
const NO_PENALTY = 'has no counterpart: a denied request takes nothing, and a client that waits for Retry-After passes';
const PER_SECOND = "is `count` with its `period` here: ten a second are count: 10, period: '1s'";
const PER_MINUTE = "is `count` with its `period` here: ten a minute are count: 10, period: '1m'";
const DELAY = "is `maxWait` here, the longest wait for a turn: e.g. burst: 10, maxWait: '2s'";
const MAX_WAIT = "is `maxWait` here, beside `burst: 1`: e.g. maxWait: '2s'";

const said = (names: Readonly<Record<string, string>>): Hints =>
  Object.fromEntries(Object.entries(names).map(([name, text]) => [name, `\`${name}\` ${text}.`]));

/** @param names - With a space between two: many libraries have a name of their own for the same. */
const named = (names: string, text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, text]));

/** Names from other libraries for the properties of a limit, with the name here. */
export const LIMIT_HINTS: Hints = said({
  ...named('windowMs timeWindow window unit interval refillInterval reservoirRefreshInterval periodMs', PERIOD_MS),
  duration: PERIOD_SECONDS,
  ...named(
    'max limit points tokens requests amount hits attempts tokensPerInterval tokensToAddPerInterval reservoirRefreshAmount refillRate refillAmount',
    COUNT,
  ),
  ...named('capacity bucketSize maxBurst maxTokens reservoir', BURST),
  ...named('rate rps perSecond requestsPerSecond', PER_SECOND),
  ...named('rpm perMinute requestsPerMinute', PER_MINUTE),
  ...named('delayMs maxDelayMs queue', DELAY),
  minTime: MAX_WAIT,
  ...named(
    'maxConcurrent maxConcurrency concurrent slots parallel maxConcurrentRequests concurrentRequests concurrencyLimit maxInFlight inFlight',
    CONCURRENCY,
  ),
  ...named('keyGenerator getKey keyFn keyBy by id', KEY),
  ttl: `${PERIOD_MS}. For a concurrency limit it is \`expiry\``,
  quota: "is `count` with `per` here: e.g. count: 10_000, per: 'month'",
  delayAfter: "is `burst` here, beside `maxWait`: e.g. burst: 10, maxWait: '2s'",
  allowList: "is an override here, e.g. overrides: { '203.0.113.7': 'unlimited' }, or skip: (req) => …",
  whiteList: "is an override here, e.g. overrides: { '203.0.113.7': 'unlimited' }, or skip: (req) => …",
  whitelist: "is an override here, e.g. overrides: { '203.0.113.7': 'unlimited' }, or skip: (req) => …",
});

/** Names from other libraries for the options of a middleware, with the name here. */
export const MIDDLEWARE_HINTS: Hints = {
  ...LIMIT_HINTS,
  ...said({
    ...named('message statusCode status throw errorMessage errorResponseBuilder', ON_DENIED),
    ...named('onExceeding onExceeded onLimited onLimitReached', ON_DECISION),
    ...named('standardHeaders enableDraftSpec', DRAFT_FIELDS),
    ...named('legacyHeaders headers addHeaders addHeadersOnExceeding', LEGACY_FIELDS),
    ...named('identifier keyPrefix nameSpace namespace', NAME),
    ...named('blacklist blackList isBlackListed', BLOCK_LIST),
    ...named('storeClient redis client useRedisPackage useRedis3AndLowerPackage', REDIS_STORE),
    ...named('blockDuration blockOnConsumed inMemoryBlockOnConsumed inMemoryBlockDuration ban onBanReach', NO_BLOCK),
    ...named('continueExceeding exponentialBackoff', NO_PENALTY),
    ...named('execEvenly execEvenlyMinDelayMs maxQueueSize', MAX_WAIT),
    handler: 'is `onDenied` here',
    disableHeader: 'is `fields: false` here',
    groupId: 'has no counterpart: use one limit on several routes',
    requestPropertyName: 'has no counterpart: the decision is the `rateLimit` of the request',
    retryAfter: 'has no counterpart: it is exact. `retryJitter` lengthens it',
    validate: 'has no counterpart: options are always checked',
    logger: 'is `log` here, a function of a line',
    isWhiteListed: 'is `skip` here, e.g. skip: (req) => …',
    runActionAnyway: 'has no counterpart: an id that is unlimited or blocked has no bucket',
    skipSuccessfulRequests: 'is `settle` here, e.g. settle: (req, res) => (res.statusCode < 400 ? 0 : 1)',
    skipFailedRequests: 'is `settle` here, e.g. settle: (req, res) => (res.statusCode < 400 ? 1 : 0)',
    requestWasSuccessful: 'is `settle` here: it gives the true cost after the response',
    ipv6Subnet: 'is a part of the key here: key: clientNetwork({ ipv6PrefixLength: 48 })',
    passOnStoreError: "is `failure` here, e.g. failure: { onFailure: 'open' }",
    skipOnError: "is `failure` here, e.g. failure: { onFailure: 'open' }",
    prefix: 'belongs to the store here: store: redisStore({ client, prefix })',
    ephemeralCache: 'has no counterpart: redisStore remembers denials',
    ignore: 'is `skip` here, e.g. skip: (req) => …',
    timeout: 'is `failure` here, e.g. failure: { deadlineMs: 50 }',
    db: 'is `store` here',
    driver: 'is `store` here',
    storeType: 'is `store` here',
    cache: 'is a part of the store here: store: memoryStore({ maxKeys: 5000 })',
    rejectIfRedisNotReady: 'has no counterpart: until the store answers, `failure` decides',
    rejectIfValkeyNotReady: 'has no counterpart: until the store answers, `failure` decides',
    customIncrTtlLuaScript: 'has no counterpart: the script is a part of redisStore',
    timeoutMs: 'is `failure` here, e.g. failure: { deadlineMs: 50 }',
    insuranceLimiter: "is `failure` here: { onFailure: 'local' }, which is the default",
    customDuration: 'has no counterpart: `period` belongs to the limit, or to an override',
    weight: 'is `cost` here',
    limits: 'needs a limiter beside it: rateLimit({ limiter, limits })',
    trustProxy: "is `trustedProxies` here, e.g. trustedProxies: ['private']",
    proxy: "is `trustedProxies` here, e.g. trustedProxies: ['private']",
  }),
};
