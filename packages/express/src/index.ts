/**
 * Rate limits for Express 4 and 5.
 *
 * @module
 */
import type { Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  NodeExchange,
  runFlow,
  sendRefusal,
  type FlowOutcome,
  type FlowSettings,
  type MiddlewareOptions,
  type Refusal,
  type RequestDecision,
} from '@sluice/core/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';

declare global {
  namespace Express {
    interface Request {
      /** What the limits decided about this request; left out when none was asked. */
      rateLimit?: RequestDecision;
    }
  }
}

/** Answers a refused request in your own way: the fields are set, the status is not. */
export type OnDenied = (req: Request, res: Response, next: NextFunction, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<
  Request,
  readonly [Request, Response],
  Name
> & {
  /** Answers a refused request in your own way. Default: a 429 (503 when the store can't answer) with problem details. */
  readonly onDenied?: OnDenied | undefined;
};

/**
 * Makes a middleware that limits requests: by one limit of its own, or by limits of a shared limiter, decided together.
 *
 *     app.use(rateLimit({ count: 100, period: '1m' }));
 *     app.post('/orders', rateLimit({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: 10 }] }), createOrder);
 *
 * The decision is on `req.rateLimit` afterwards. What your own functions throw goes to Express' error handler.
 *
 * @throws {SluiceError} for wrong options, with the option, what it must be, what it was and what to write instead.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): RequestHandler {
  const settings = flowSettings<Request, readonly [Request, Response]>(options, ['onDenied']);
  const refuse = refuser(settings, options.onDenied);

  return function rateLimitMiddleware(req, res, next) {
    const outcome = runFlow(settings, new ExpressExchange(req, req, res), [req, res]);
    if (outcome === null) return next();
    const end = (settled: Exclude<FlowOutcome, null>): void => {
      if (settled !== 'left') refuse(req, res, next, settled);
    };
    if (!(outcome instanceof Promise)) return end(outcome);
    // What fails behind `next` is Express' own matter: only what comes before it is handed on.
    outcome.then((settled) => (settled === null ? next() : attempt(() => end(settled), next)), next);
  };
}

/** Hands on what sending throws: behind a promise Express does not catch it. */
function attempt(send: () => void, next: NextFunction): void {
  try {
    send();
  } catch (error) {
    next(errorOf(error));
  }
}

class ExpressExchange extends NodeExchange<Request> {
  get decision(): RequestDecision | undefined {
    return this.request.rateLimit;
  }

  set decision(decision: RequestDecision) {
    this.request.rateLimit = decision;
  }
}

type Settings = FlowSettings<Request, readonly [Request, Response]>;
type Refuse = (req: Request, res: Response, next: NextFunction, refusal: Refusal) => void;

function refuser(settings: Settings, onDenied: OnDenied | undefined): Refuse {
  if (onDenied === undefined) return (_req, res, _next, refusal) => sendRefusal(settings, res, refusal);
  return (req, res, next, { decision }) => {
    new Promise((resolve) => resolve(onDenied(req, res, next, decision))).catch((error: unknown) =>
      next(errorOf(error)),
    );
  };
}
