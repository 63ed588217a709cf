/** @import { Request } from 'express' */
import { accountId, createLimiter, everyone } from '@sluice/core';

/** Who owns which key. A real service looks this up when it authenticates a request. */
const tenants = new Map([
  ['free-key', { id: 'free-tenant' }],
  ['pro-key', { id: 'pro-tenant' }],
  ['enterprise-key', { id: 'enterprise-tenant' }],
]);

export const tenantOf = (/** @type {Request} */ req) => tenants.get(req.get('x-api-key') ?? '');
const perTenant = () => accountId((/** @type {Request} */ req) => tenantOf(req)?.id ?? null);

// All plans in one place. A mistake in a number is an error here, before anything is served: assured rates that the
// pool can't carry, or a ceiling below them.
export const limiter = createLimiter({
  limits: {
    // Each tenant has its assured rate, and borrows what others leave of the pool, up to its ceiling.
    Requests: {
      key: perTenant(),
      burst: 4,
      count: 2,
      period: '1s',
      borrow: { from: 'Capacity', ceiling: { burst: 8, count: 4, period: '1s' }, tenants: 10 },
    },
    // What this server can do. No client has to know.
    Capacity: { key: everyone(), burst: 60, count: 60, period: '1s', hidden: true },
    // What the tenant pays for.
    Monthly: { key: perTenant(), count: 20, per: 'month', timeZone: 'Europe/Berlin' },
    // Exports go to a backend that stands one at a time, ten a second. They wait in line, at most for two seconds.
    Exports: { key: everyone(), burst: 1, count: 10, period: '1s', maxWait: '2s' },
    // What an answer of the language model costs is known when it is complete. At most so many tokens in any hour.
    LlmTokens: { key: perTenant(), burst: 1000, count: 6000, period: '1h', maxDebt: 3000, atMost: { 10_000: '1h' } },
  },
  overrides: {
    Requests: {
      'pro-tenant': {
        burst: 10,
        count: 5,
        period: '1s',
        borrow: { ceiling: { burst: 20, count: 20, period: '1s' }, weight: 3 },
      },
      'enterprise-tenant': {
        burst: 40,
        count: 20,
        period: '1s',
        borrow: { ceiling: { burst: 60, count: 60, period: '1s' }, weight: 10 },
      },
    },
    Monthly: { 'pro-tenant': { count: 100_000 }, 'enterprise-tenant': 'unlimited' },
  },
});
