import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';

/** A request with what your authentication has left on it: nothing for a visitor who is not signed in. */
interface AppRequest extends Request {
  account?: { id: string; plan: 'free' | 'paid' };
}

const limiter = createLimiter({
  limits: {
    Visitors: { key: clientNetwork(), count: 20, period: '1m' },
    Accounts: { key: accountId(({ account }: AppRequest) => account?.id ?? null), count: 60, period: '1m' },
  },
  overrides(limit, _id, req) {
    // Whoever is signed in is limited by the account alone: offices and schools share an address.
    if (limit === 'Visitors') return req?.account === undefined ? undefined : 'unlimited';
    return req?.account?.plan === 'paid' ? { burst: 200, count: 1200, period: '1m' } : undefined;
  },
});

/** `app.use(authenticate, limitByPlan)`, where `authenticate` sets `req.account` or leaves it out. */
export const limitByPlan: RequestHandler = rateLimit({ limiter, limits: ['Visitors', 'Accounts'] });
