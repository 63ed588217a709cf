import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler, Response } from 'express';

const limiter = createLimiter({
  limits: {
    FailedLoginsPerName: { key: accountId(nameOf), burst: 5, count: 20, period: '24h' },
    FailedLoginsPerClient: { key: clientNetwork(), burst: 100, count: 200, period: '24h' },
  },
});

/** `app.post('/login', express.json(), limitFailedLogins, login)`; the handler answers 401 to a wrong password. */
export const limitFailedLogins: RequestHandler = rateLimit({
  limiter,
  limits: [
    { limit: 'FailedLoginsPerName', settle: failures },
    { limit: 'FailedLoginsPerClient', settle: failures },
  ],
});

function failures(_req: Request, res: Response): number {
  return res.statusCode === 401 ? 1 : 0;
}

/** The name as the login looks it up. A body without one gets 400: '' is not an id, and null would be no limit. */
function nameOf({ body }: Request): string {
  return typeof body?.name === 'string' ? body.name.toLowerCase() : '';
}
