/** @import { Request } from 'express' */
import { accountId, createLimiter, everyone } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { quota } from '@sluice/core/quota';

/** The tenant of each API key. A real service looks it up when it authenticates a request. */
const tenants = new Map([
  ['free-key', { id: 'free-tenant' }],
  ['pro-key', { id: 'pro-tenant' }],
  ['enterprise-key', { id: 'enterprise-tenant' }],
]);

export const tenantOf = (/** @type {Request} */ req) => tenants.get(req.get('x-api-key') ?? '');
const perTenant = () => accountId((/** @type {Request} */ req) => tenantOf(req)?.id ?? null);

// All plans in one place. Wrong numbers are an error at start, such as assured rates that are higher than the rate of the
// pool, or a ceiling below them.
export const limiter = createLimiter({
  limits: {
    // Each tenant has an assured rate, and borrows unused tokens of the pool, up to its ceiling.
    Requests: borrow({
      key: perTenant(),
      burst: 4,
      count: 2,
      period: '1s',
      borrow: { from: 'Capacity', ceiling: { burst: 8, count: 4, period: '1s' }, tenants: 10 },
    }),
    // What this server can handle. Clients do not see it.
    Capacity: { key: everyone(), burst: 60, count: 60, period: '1s', hidden: true },
    // The requests that a tenant pays for.
    Monthly: quota({ key: perTenant(), count: 20, per: 'month', timeZone: 'Europe/Berlin' }),
    // Exports go to a backend that handles them one at a time, ten a second. They are queued for at most two seconds.
    Exports: { key: everyone(), burst: 1, count: 10, period: '1s', maxWait: '2s' },
    // The cost of an answer of the language model is known when it is complete. At most 10,000 tokens in any hour.
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
