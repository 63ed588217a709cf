import { accountId, clientNetwork, createLimiter, type Override } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler } from 'express';
import { jwtVerify, type JWTPayload } from 'jose';

interface VerifiedRequest extends Request {
  token?: JWTPayload;
}

const plans = new Map<unknown, Override>([
  ['pro', { burst: 100, count: 600, period: '1m' }],
  ['team', { burst: 500, count: 3000, period: '1m' }],
]);

const limiter = createLimiter({
  limits: {
    RequestsPerAccount: { key: accountId((req: VerifiedRequest) => req.token?.sub ?? null), count: 60, period: '1m' },
    RequestsPerClient: { key: clientNetwork(), count: 1000, period: '1m' },
  },
  overrides: (limit, _id, req) => (limit === 'RequestsPerAccount' ? plans.get(req?.token?.['plan']) : undefined),
});

/** `app.use(verifyToken(secret), limitByPlan)` */
export const limitByPlan: RequestHandler = rateLimit({ limiter, limits: ['RequestsPerAccount', 'RequestsPerClient'] });

export function verifyToken(secret: Uint8Array): RequestHandler {
  return async (req: VerifiedRequest, res, next) => {
    const [, token = ''] = req.get('Authorization')?.split(' ') ?? [];
    const verified = await jwtVerify(token, secret).catch(() => null);
    if (verified === null) res.sendStatus(401);
    else {
      req.token = verified.payload;
      next();
    }
  };
}
