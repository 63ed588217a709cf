import { accountId, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import type { Request, RequestHandler, Response } from 'express';

const MOST = 20_000;

interface AuthenticatedRequest extends Request {
  account?: string; // set by your authentication
}

export const limiter = createLimiter({
  limits: {
    TokensPerAccount: {
      key: accountId((req: AuthenticatedRequest) => req.account ?? null),
      burst: 100_000,
      count: 1_000_000,
      period: '24h',
    },
  },
});

/** `app.post('/chat', authenticate, express.json(), limitTokens, chat(model))` */
export const limitTokens: RequestHandler = rateLimit({
  limiter,
  limits: [{ limit: 'TokensPerAccount', cost: mostOf, settle: usedBy, settleAborted: true }],
});

/** Streams the tokens of a model, and stops the model when the client leaves. */
export function chat(model: (prompt: unknown, signal: AbortSignal) => AsyncIterable<string>): RequestHandler {
  return async (req, res) => {
    const abort = new AbortController();
    res.on('close', () => abort.abort());
    res.locals['tokens'] = 0;
    for await (const token of model(req.body, abort.signal)) {
      if (abort.signal.aborted) break;
      res.locals['tokens']++;
      res.write(token);
    }
    res.end();
  };
}

/** The most that the answer can cost, which is taken before it begins. */
function mostOf({ body }: Request): number {
  const asked = Math.floor(Number(body?.max_tokens));
  return asked >= 1 && asked < MOST ? asked : MOST;
}

/** What the answer has cost, finished or not. */
function usedBy(_req: Request, res: Response): number {
  return res.locals['tokens'];
}
