import { accountId, createLimiter, type Override } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';
import { LRUCache } from 'lru-cache';

/** Your database: the numbers of an account that has a plan, `undefined` for all others. */
export interface Database {
  planOf(account: string): Promise<Override | undefined>;
}

interface AuthenticatedRequest extends Request {
  account?: string; // set by your authentication
}

/** The cached answer for an account. That it has no plan is an answer, too. */
interface Known {
  plan: Override | undefined;
}

export function cachedPlans(database: Database): LRUCache<string, Known> {
  return new LRUCache<string, Known>({
    max: 50_000,
    ttl: 60_000,
    allowStale: true, // while one query brings the next answer
    ignoreFetchAbort: true, // requests that wait for an answer get it, even when the account was deleted
    async fetchMethod(account, older, { options }) {
      try {
        return { plan: await database.planOf(account) };
      } catch (error) {
        console.warn('A plan could not be read.', error);
        options.ttl = 1000; // the next query for this account
        return older ?? { plan: undefined };
      }
    },
  });
}

/** `app.use(authenticate, limitByPlan(database).middleware)` */
export function limitByPlan(database: Database): {
  middleware: RequestHandler;
  planChanged: (account: string) => void;
} {
  const plans = cachedPlans(database);
  const limiter = createLimiter({
    limits: {
      RequestsPerAccount: {
        key: accountId((req: AuthenticatedRequest) => req.account ?? null),
        count: 60,
        period: '1m',
      },
    },
    overrides: async (_limit, account) => (await plans.fetch(account))?.plan,
  });
  // Call planChanged where a plan is changed: the next request is decided by the new one.
  return { middleware: rateLimit({ limiter }), planChanged: (account) => plans.delete(account) };
}
