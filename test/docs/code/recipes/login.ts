import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler, Response } from 'express';

const limiter = createLimiter({
  limits: {
    FailedLoginsPerName: { key: accountId(nameOf), burst: 5, count: 20, period: '24h' },
    FailedLoginsPerClient: { key: clientNetwork(), burst: 20, count: 100, period: '24h' },
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

/** The name as the login looks it up. Null, which is no limit by name, when the body has none. */
function nameOf({ body }: Request): string | null {
  return typeof body?.name === 'string' && body.name !== '' ? body.name.toLowerCase() : null;
}
