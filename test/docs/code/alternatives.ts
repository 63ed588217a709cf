import { accountId, createLimiter } from '@sluice/core';

const limiter = createLimiter({
  limits: {
    OfCustomer: { key: accountId(), count: 100, period: '1m' },
    OfAllCustomers: { key: accountId(), count: 500, period: '1m' },
  },
});

/** Takes a token of the customer's own bucket, or else of the bucket that all customers share. */
export async function spend(customer: string) {
  const own = [{ limit: 'OfCustomer', id: customer }] as const;
  const shared = [{ limit: 'OfAllCustomers', id: 'all' }] as const;
  return limiter.spend({ firstOf: [own, shared] });
}
