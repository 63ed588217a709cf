/**
 * Rate limits for Express 4 and 5: the middleware {@link rateLimit} and the handler {@link limitsStatus}.
 *
 * @module
 */
import type { Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  limitsStatusOf,
  NodeExchange,
  runFlow,
  sendDenial,
  statusSettings,
  type FlowOutcome,
  type FlowSettings,
  type LimitsStatusOptions,
  type MiddlewareOptions,
  type Denial,
  type RequestDecision,
} from '@sluice/core/http';
import type { NextFunction, Request, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';

declare global {
  namespace Express {
    interface Request {
      /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
      rateLimit?: RequestDecision;
    }
  }
}

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The header fields
 * about the limits are already set, the status is not. The result is ignored; errors go to Express' error handling.
 */
export type OnDenied = (req: Request, res: Response, next: NextFunction, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<
  Request,
  readonly [Request, Response],
  Name
> & {
  /**
   * Answers a request that does not pass. Default: problem details (RFC 9457) with status 429, 403 for a blocked id, or
   * 503 if the service has no room or the store is unavailable.
   */
  readonly onDenied?: OnDenied | undefined;
};

/**
 * A middleware of Express. It names no parameters of a route, so that it fits beside handlers with types of their own, and
 * in arrays and functions for other middlewares.
 */
export type RateLimitHandler = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Creates a middleware that limits requests, by one limit of its own or by limits of a shared limiter. All limits of
 * one middleware are decided together: a request takes tokens from all of them or from none.
 *
 *     app.use(rateLimit({ count: 100, period: '1m' }));
 *     app.post('/orders', rateLimit({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: 10 }] }), createOrder);
 *
 * The decision is then in `req.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to Express' error
 * handling; errors of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): RateLimitHandler {
  const settings = flowSettings<Request, readonly [Request, Response]>(options, ['onDenied']);
  const send = denialSender(settings, options.onDenied);

  return asHandler(function rateLimitMiddleware(req, res, next) {
    const outcome = runFlow(settings, new ExpressExchange(req, req, res), [req, res]);
    if (outcome === null) return next();
    const end = (settled: Exclude<FlowOutcome, null>): void => {
      if (settled !== 'left') send(req, res, next, settled);
    };
    if (!(outcome instanceof Promise)) return end(outcome);
    // `next` is the second argument of `then` and not a `catch`: an error from inside `next()` must not reach it again.
    outcome.then((settled) => (settled === null ? next() : attempt(() => end(settled), next)), next);
  });
}

/** Express calls all handlers with its own request and response. */
function asHandler(handle: (req: Request, res: Response, next: NextFunction) => void): RateLimitHandler {
  return handle as RateLimitHandler;
}

/** Passes errors of `send` to `next`, because Express does not catch errors after a promise. */
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

/**
 * Creates a handler that shows a client what is left of its limits, and takes nothing.
 *
 *     app.get('/rate_limit', limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'] }));
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to Express' error handling. When the
 * store can't answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(
  options: LimitsStatusOptions<Request, Name>,
): RateLimitHandler {
  const settings = statusSettings<Request>(options);
  return asHandler(function limitsStatusHandler(req, res, next) {
    limitsStatusOf(settings, new ExpressExchange(req, req, res))
      .then((answer) => {
        if (answer !== 'left') sendDenial(settings, res, answer);
      })
      .catch((error: unknown) => next(errorOf(error)));
  });
}

type Settings = FlowSettings<Request, readonly [Request, Response]>;
type SendDenial = (req: Request, res: Response, next: NextFunction, denial: Denial) => void;

function denialSender(settings: Settings, onDenied: OnDenied | undefined): SendDenial {
  if (onDenied === undefined) return (_req, res, _next, denial) => sendDenial(settings, res, denial);
  return (req, res, next, { decision }) => {
    new Promise((resolve) => resolve(onDenied(req, res, next, decision))).catch((error: unknown) =>
      next(errorOf(error)),
    );
  };
}
