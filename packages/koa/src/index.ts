/**
 * Rate limits for Koa 2 and 3.
 *
 * @module
 */
import type { Decision } from '@sluice/core';
import {
  endIfBegun,
  errorOf,
  flowSettings,
  runFlow,
  sendRefusal,
  type FlowOutcome,
  type FlowSettings,
  type MiddlewareOptions,
  type Refusal,
  type RequestDecision,
} from '@sluice/core/http';
import type { Context, Middleware, Next } from 'koa';
import { KoaExchange } from './exchange.ts';

declare module 'koa' {
  interface DefaultState {
    /** What the limits decided about this request; left out when none was asked. */
    rateLimit?: RequestDecision;
  }
}

/** Answers a refused request in your own way: the fields are set, the status is not. */
export type OnDenied = (ctx: Context, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<Context, readonly [Context], Name> & {
  /** Answers a refused request in your own way. Default: a 429 (503 when the store can't answer) with problem details. */
  readonly onDenied?: OnDenied | undefined;
};

/**
 * Makes a middleware that limits requests: by one limit of its own, or by limits of a shared limiter, decided together.
 *
 *     app.use(rateLimit({ count: 100, period: '1m' }));
 *     router.post('/orders', rateLimit({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: 10 }] }), createOrder);
 *
 * The decision is on `ctx.state.rateLimit` afterwards. What your own functions throw goes to Koa's error handling.
 *
 * @throws {SluiceError} for wrong options, with the option, what it must be, what it was and what to write instead.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): Middleware {
  const settings = flowSettings<Context, readonly [Context]>(options, ['onDenied']);
  const { onDenied } = options;
  const proceed = (ctx: Context, next: Next, outcome: FlowOutcome): unknown => {
    if (outcome === null) return next();
    if (outcome === 'left') return undefined;
    if (onDenied === undefined) return refuse(settings, ctx, outcome);
    return new Promise((resolve) => resolve(onDenied(ctx, outcome.decision))).catch(throwError);
  };

  return function rateLimitMiddleware(ctx: Context, next) {
    const outcome = runFlow(settings, new KoaExchange(ctx, ctx.req, ctx.res), [ctx]);
    return outcome instanceof Promise
      ? outcome.then((settled) => proceed(ctx, next, settled))
      : proceed(ctx, next, outcome);
  };
}

function refuse(settings: FlowSettings<Context, readonly [Context]>, ctx: Context, refusal: Refusal): void {
  const { response, res } = ctx;
  // Koa leaves the response to a middleware before.
  if (ctx.respond === false) return sendRefusal(settings, res, refusal);
  if (endIfBegun(settings, res)) return;
  response.status = refusal.status;
  response.set(refusal.fields);
  response.body = refusal.body;
}

function throwError(cause: unknown): never {
  throw errorOf(cause);
}
