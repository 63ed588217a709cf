import { accountId, compound, createLimiter, type Override } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';

/** What your authentication leaves on a request. */
interface AuthenticatedRequest extends Request {
  auth?: { tenant: string; user: string };
}

const tenant = (req: AuthenticatedRequest) => req.auth?.tenant ?? null;
const user = (req: AuthenticatedRequest) => req.auth?.user ?? null;

/** Numbers that a tenant has agreed on with you, for each limit; all others have those of the limit. */
const agreements = new Map<string | undefined, Readonly<Record<string, Override>>>([
  ['acme', { RequestsPerTenant: { count: 6000, period: '1m' }, RequestsPerUser: { count: 300, period: '1m' } }],
]);

const limiter = createLimiter({
  limits: {
    RequestsPerTenant: { key: accountId(tenant), count: 600, period: '1m' },
    RequestsPerUser: { key: compound(accountId(tenant), accountId(user)), count: 60, period: '1m' },
  },
  overrides: (limit, _id, req) => agreements.get(req?.auth?.tenant)?.[limit],
});

/** `app.use(authenticate, limitTenants)` */
export const limitTenants: RequestHandler = rateLimit({ limiter, limits: ['RequestsPerTenant', 'RequestsPerUser'] });
