import type { Hints } from './options.ts';

const PERIOD_MS = "is `period` here, e.g. period: '1m'";
const PERIOD_SECONDS = "is `period` here, and a number of it means milliseconds, not seconds: e.g. period: '60s'";
const COUNT = 'is `count` here (tokens that come back every period; `burst` is how many may come at once)';
const KEY = 'is `key` here, e.g. key: accountId((req) => req.user?.id ?? null)';

const said = (names: Readonly<Record<string, string>>): Hints =>
  Object.fromEntries(Object.entries(names).map(([name, text]) => [name, `\`${name}\` ${text}.`]));

/** What other libraries call the parts of a limit. */
export const LIMIT_HINTS: Hints = said({
  windowMs: PERIOD_MS,
  timeWindow: PERIOD_MS,
  ttl: PERIOD_MS,
  window: PERIOD_MS,
  duration: PERIOD_SECONDS,
  max: COUNT,
  limit: COUNT,
  points: COUNT,
  keyGenerator: KEY,
  id: KEY,
  allowList: "is an override here, e.g. overrides: { '203.0.113.7': 'unlimited' }, or skip: (req) => …",
  whitelist: "is an override here, e.g. overrides: { '203.0.113.7': 'unlimited' }, or skip: (req) => …",
});

/** What other libraries call the options of a middleware. */
export const MIDDLEWARE_HINTS: Hints = {
  ...LIMIT_HINTS,
  ...said({
    handler: 'is `onDenied` here',
    message: 'is `onDenied` here: it writes an answer of your own',
    statusCode: 'is `onDenied` here: it writes an answer of your own',
    errorResponseBuilder: 'is `onDenied` here: it writes an answer of your own',
    onExceeded: 'is `onDecision` here: (decision) => { if (!decision.allowed) … }',
    onLimitReached: 'is `onDecision` here: (decision) => { if (!decision.allowed) … }',
    standardHeaders: "is `fields` here, e.g. fields: 'draft-11'",
    legacyHeaders: "is `fields` here, e.g. fields: 'legacy'",
    headers: "is `fields` here, e.g. fields: 'legacy'",
    addHeaders: "is `fields` here, e.g. fields: 'legacy'",
    disableHeader: 'is `fields: false` here',
    blacklist: 'is no matter of a rate limit: refuse those clients before it',
    skipSuccessfulRequests: 'is `settle` here, e.g. settle: (req, res) => (res.statusCode < 400 ? 0 : 1)',
    skipFailedRequests: 'is `settle` here, e.g. settle: (req, res) => (res.statusCode < 400 ? 1 : 0)',
    requestWasSuccessful: 'is `settle` here: it gives the true cost after the response',
    ipv6Subnet: 'is a part of the key here: key: clientNetwork({ ipv6PrefixLength: 48 })',
    passOnStoreError: "is `failure` here, e.g. failure: { onFailure: 'open' }",
    skipOnError: "is `failure` here, e.g. failure: { onFailure: 'open' }",
    storeClient: 'is `store` here',
    redis: 'is `store` here',
    db: 'is `store` here',
    driver: 'is `store` here',
    blockDuration: 'has no counterpart: a bucket in GCRA tells the exact moment when the next request passes',
    ban: 'has no counterpart: a bucket in GCRA tells the exact moment when the next request passes',
    weight: 'is `cost` here',
    trustProxy: "is `trustedProxies` here, e.g. trustedProxies: ['private']",
    proxy: "is `trustedProxies` here, e.g. trustedProxies: ['private']",
  }),
};
