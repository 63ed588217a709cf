import { accountId, cachedOverrides, createLimiter, type LimitNumbers } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';

/** Your database: the numbers of an account that has a plan, `undefined` for all others. */
export interface Database {
  planOf(account: string): Promise<LimitNumbers | undefined>;
}

/** What your authentication leaves on a request. */
interface AuthenticatedRequest extends Request {
  account?: string;
}

/** `app.use(authenticate, limitByPlan(database).middleware)` */
export function limitByPlan(database: Database): {
  middleware: RequestHandler;
  planChanged: (account: string) => void;
} {
  const plans = cachedOverrides((_limit, account) => database.planOf(account), { maxAge: '1m', maxEntries: 50_000 });
  const limiter = createLimiter({
    limits: {
      RequestsPerAccount: {
        key: accountId((req: AuthenticatedRequest) => req.account ?? null),
        count: 60,
        period: '1m',
      },
    },
    overrides: plans,
  });
  // Call planChanged where a plan is changed: the next request is decided by the new one.
  return { middleware: rateLimit({ limiter }), planChanged: (account) => plans.delete(account) };
}
