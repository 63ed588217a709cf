// What the code blocks of the documentation may use without showing it. Keep it short: a block is best complete.
import type { RequestHandler } from 'express';

declare global {
  /** Express' own place for what an authentication middleware leaves on the request. */
  namespace Express {
    interface Request {
      user?: { id: string };
    }
  }

  /** Routes and middleware of the reader's own application. */
  const requireUser: RequestHandler;
  const createOrder: RequestHandler;
  const login: RequestHandler;
}
