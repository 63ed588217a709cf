import { describe, expect, test } from 'vitest';
import { LIMIT_HINTS, MIDDLEWARE_HINTS } from '../../src/checks/peer-names.ts';

// What the other libraries call what, and which of our options the message must name for it.
const limitNames: Record<string, string> = {
  windowMs: 'period',
  timeWindow: 'period',
  ttl: 'period',
  window: 'period',
  duration: 'period',
  max: 'count',
  limit: 'count',
  points: 'count',
  keyGenerator: 'key',
  id: 'key',
  allowList: 'override',
  whitelist: 'override',
};

const middlewareNames: Record<string, string> = {
  ...limitNames,
  handler: 'onDenied',
  message: 'onDenied',
  statusCode: 'onDenied',
  errorResponseBuilder: 'onDenied',
  onExceeded: 'onDecision',
  onLimitReached: 'onDecision',
  standardHeaders: 'fields',
  legacyHeaders: 'fields',
  headers: 'fields',
  addHeaders: 'fields',
  disableHeader: 'fields',
  blacklist: "'blocked'",
  skipSuccessfulRequests: 'settle',
  skipFailedRequests: 'settle',
  requestWasSuccessful: 'settle',
  ipv6Subnet: 'ipv6PrefixLength',
  passOnStoreError: 'failure',
  skipOnError: 'failure',
  storeClient: 'store',
  redis: 'store',
  db: 'store',
  driver: 'store',
  blockDuration: 'no counterpart',
  ban: 'no counterpart',
  weight: 'cost',
  trustProxy: 'trustedProxies',
  proxy: 'trustedProxies',
};

describe.each([
  { of: 'a limit', hints: LIMIT_HINTS, names: limitNames },
  { of: 'a middleware', hints: MIDDLEWARE_HINTS, names: middlewareNames },
])('other libraries’ names for the options of $of', ({ hints, names }) => {
  test.each(Object.entries(names))('%s: the message names %s', (name, ours) => {
    expect(hints[name]).toMatch(new RegExp(`^\`${name}\` .*${ours}.*\\.$`));
  });

  test('are all called by their name, in a sentence', () => {
    for (const [name, hint] of Object.entries(hints))
      expect(hint).toMatch(new RegExp(`^\`${name}(?:: \\w+)?\` .*\\.$`));
  });
});

test('the hint for an option in seconds explains that a number means milliseconds', () => {
  expect(LIMIT_HINTS['duration']).toBe(
    "`duration` is `period` here, and a number of it means milliseconds, not seconds: e.g. period: '60s'.",
  );
  expect(LIMIT_HINTS['windowMs']).toBe("`windowMs` is `period` here, e.g. period: '1m'.");
});
