import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';

interface AppRequest extends Request {
  account?: { id: string; plan: 'free' | 'paid' }; // set by your authentication, for those who are signed in
}

const limiter = createLimiter({
  limits: {
    Visitors: { key: clientNetwork(), count: 20, period: '1m' },
    Accounts: { key: accountId(({ account }: AppRequest) => account?.id ?? null), count: 60, period: '1m' },
  },
  overrides(limit, _id, req) {
    // Those who are signed in are limited by the account alone: offices and schools share an address.
    if (limit === 'Visitors') return req?.account === undefined ? undefined : 'unlimited';
    return req?.account?.plan === 'paid' ? { burst: 200, count: 1200, period: '1m' } : undefined;
  },
});

/** `app.use(authenticate, limitByPlan)`, where `authenticate` sets `req.account` or leaves it out. */
export const limitByPlan: RequestHandler = rateLimit({ limiter, limits: ['Visitors', 'Accounts'] });
