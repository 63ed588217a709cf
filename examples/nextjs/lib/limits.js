import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { limitFetch } from '@sluice/fetch';
import { redisStore } from '@sluice/redis';

const accounts = new Map(['alice', 'bob', 'carol', 'dave'].map((name) => [`${name}-key`, name]));

/**
 * One store, and one connection, in a process. The proxy and the routes are bundles of their own, and in development Next
 * loads this file again after each change. A limiter can't be shared like this, because each bundle may have its own copy
 * of Sluice. Limiters with equal limits on one store share the buckets.
 */
const shared = /** @type {{ limitStore?: ReturnType<typeof redisStore> }} */ (globalThis);
const store = (shared.limitStore ??= redisStore({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }));

export const limiter = createLimiter({
  limits: {
    RequestsPerClient: { key: clientNetwork(), burst: 50, count: 20, period: '1s' },
    OrdersPerKey: { key: accountId(accountOf), burst: 5, count: 60, period: '1h' },
  },
  // Not the memory store: the proxy and each route may run in instances of their own, which come and go. Each of them
  // would have its own buckets, and nothing would be limited. On Vercel and in the Edge runtime it is an error.
  store,
  // Redis is in another network than the functions.
  failure: { deadlineMs: 500 },
});

/** The account of a key, which a real service looks up. A key that a client invents is an error, and not a new bucket. */
function accountOf(/** @type {Request} */ request) {
  return accounts.get(request.headers.get('x-api-key') ?? '') ?? '';
}

/**
 * The address of the client, from a field that the proxy in front of Next sets, whatever the client sends: Vercel does, and
 * nginx with `proxy_set_header X-Real-IP $remote_addr`. Without such a proxy, clients can write it.
 */
const address = (/** @type {Request} */ request) => request.headers.get('x-real-ip');

/** For proxy.js: all requests that its `matcher` names. */
export const limitRequests = limitFetch({ limiter, limits: ['RequestsPerClient'], address });

/** For route handlers. The proxy has counted the request for its client. */
export const limitOrders = limitFetch({ limiter, limits: ['OrdersPerKey'], address: () => null });
