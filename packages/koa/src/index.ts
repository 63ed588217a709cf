/**
 * Rate limits for Koa 2 and 3: the middlewares {@link rateLimit} and {@link limitsStatus}.
 *
 * @module
 */
import type { Decision } from '@sluice/core';
import {
  endIfBegun,
  errorOf,
  flowSettings,
  limitsStatusOf,
  runFlow,
  sendDenial,
  statusSettings,
  type Answer,
  type FlowOutcome,
  type FlowSettings,
  type LimitsStatusOptions,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import type { Context, Middleware, Next } from 'koa';
import { KoaExchange } from './exchange.ts';
import { isUpgrade, refuseUpgrade } from './upgrade.ts';

declare module 'koa' {
  interface DefaultState {
    /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
    rateLimit?: RequestDecision;
  }
}

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The header fields
 * about the limits are already set, the status is not. The result is awaited and ignored; errors go to Koa's error
 * handling.
 */
export type OnDenied = (ctx: Context, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<Context, readonly [Context], Name> & {
  /**
   * Answers a request that does not pass. Default: problem details (RFC 9457) with status 429, 403 for a blocked id, or
   * 503 if the service has no room or the store is unavailable.
   */
  readonly onDenied?: OnDenied | undefined;
};

/**
 * Creates a middleware that limits requests, by one limit of its own or by limits of a shared limiter. All limits of
 * one middleware are decided together: a request takes tokens from all of them or from none.
 *
 *     app.use(rateLimit({ count: 100, period: '1m' }));
 *     router.post('/orders', rateLimit({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: 10 }] }), createOrder);
 *
 * The decision is then in `ctx.state.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to Koa's error
 * handling; errors of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): Middleware {
  const settings = flowSettings<Context, readonly [Context]>(options, ['onDenied']);
  const { onDenied } = options;
  const proceed = (exchange: KoaExchange, next: Next, outcome: FlowOutcome): unknown => {
    if (outcome === null) return exchange.proceed(next);
    if (outcome === 'left') return undefined;
    const ctx = exchange.request;
    if (onDenied === undefined) return send(settings, ctx, outcome);
    return new Promise((resolve) => resolve(onDenied(ctx, outcome.decision))).catch(throwError);
  };

  return function rateLimitMiddleware(ctx: Context, next) {
    if (isUpgrade(ctx)) refuseUpgrade(ctx, settings.limiter);
    const exchange = new KoaExchange(ctx, ctx.req, ctx.res);
    const outcome = runFlow(settings, exchange, [ctx]);
    return outcome instanceof Promise
      ? outcome.then((settled) => proceed(exchange, next, settled))
      : proceed(exchange, next, outcome);
  };
}

/**
 * Creates a middleware that shows a client what is left of its limits, and takes nothing.
 *
 *     router.get('/rate_limit', limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'] }));
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to Koa's error handling. When the
 * store can't answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(options: LimitsStatusOptions<Context, Name>): Middleware {
  const settings = statusSettings<Context>(options);
  return async function limitsStatusMiddleware(ctx: Context) {
    const answer = await limitsStatusOf(settings, new KoaExchange(ctx, ctx.req, ctx.res)).catch(throwError);
    if (answer !== 'left') send(settings, ctx, answer);
  };
}

type Settings = Pick<FlowSettings<Context, readonly [Context]>, 'limiter'>;

function send(settings: Settings, ctx: Context, denial: Answer): void {
  const { response, res } = ctx;
  // With `ctx.respond = false`, an earlier middleware has taken over the response, and Koa does not write it.
  if (ctx.respond === false) return sendDenial(settings, res, denial);
  if (endIfBegun(settings, res)) return;
  response.status = denial.status;
  response.set(denial.fields);
  response.body = denial.body;
}

function throwError(cause: unknown): never {
  throw errorOf(cause);
}
