/**
 * Rate limits for Koa 2 and 3.
 *
 * @module
 */
import type { Decision } from '@sluice/core';
import {
  errorOf,
  FIELD_NAMES,
  flowSettings,
  NodeExchange,
  runFlow,
  type FlowSettings,
  type MiddlewareOptions,
  type Refusal,
  type RequestDecision,
} from '@sluice/core/http';
import type { Context, Middleware, Next } from 'koa';

declare module 'koa' {
  interface DefaultState {
    /** What the limits decided about this request; left out when none was asked. */
    rateLimit?: RequestDecision;
  }
}

/** Answers a refused request in your own way: the fields are set, the status is not. */
export type OnDenied = (ctx: Context, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions = MiddlewareOptions<Context, readonly [Context]> & {
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
export function rateLimit(options: RateLimitOptions): Middleware {
  const settings = flowSettings<Context, readonly [Context]>(options, ['onDenied']);
  const { onDenied } = options;
  const proceed = (ctx: Context, next: Next, refusal: Refusal | null): unknown => {
    if (refusal === null) return next().catch((error: unknown) => throwWithFields(ctx, error));
    if (onDenied === undefined) return refuse(ctx, refusal);
    const answered = new Promise((resolve) => resolve(onDenied(ctx, refusal.decision)));
    return answered.catch((error: unknown) => throwWithFields(ctx, errorOf(error)));
  };

  return function rateLimitMiddleware(ctx: Context, next) {
    const refusal = runOn(ctx, settings);
    return refusal instanceof Promise
      ? refusal.then(
          (settled) => proceed(ctx, next, settled),
          (error: unknown) => throwWithFields(ctx, error),
        )
      : proceed(ctx, next, refusal);
  };
}

function runOn(
  ctx: Context,
  settings: FlowSettings<Context, readonly [Context]>,
): Refusal | null | Promise<Refusal | null> {
  try {
    return runFlow(settings, new KoaExchange(ctx, ctx.req, ctx.res), [ctx]);
  } catch (error) {
    return throwWithFields(ctx, error);
  }
}

class KoaExchange extends NodeExchange<Context> {
  get decision(): RequestDecision | undefined {
    return this.request.state['rateLimit'];
  }

  set decision(decision: RequestDecision) {
    this.request.state['rateLimit'] = decision;
  }
}

function refuse({ response }: Context, { status, fields, body }: Refusal): void {
  if (response.headerSent) return;
  response.status = status;
  response.set(fields);
  response.body = body;
}

/** The fields that errors that passed here got from us: none of them is one of their own headers. */
const given = new WeakMap<Error, Readonly<Record<string, unknown>>>();

/**
 * Koa drops all fields of a response that ends in an error, and sets those that the error names. An error that is thrown
 * again and again, a constant, must not carry the fields of one request to the next.
 */
function throwWithFields(ctx: Context, error: unknown): never {
  if (!(error instanceof Error)) throw error;
  const before = given.get(error) ?? {};
  const headers = Object.entries((error as { headers?: object }).headers ?? {});
  const own = Object.fromEntries(headers.filter(([name, value]) => before[name] !== value));
  const present = FIELD_NAMES.filter((name) => ctx.res.hasHeader(name) && !Object.hasOwn(own, name));
  const ours = Object.fromEntries(present.map((name) => [name, ctx.response.get(name)]));
  given.set(error, ours);
  // Defined, not set: `headers` may be a getter, and the error that was thrown must stay the one that is answered.
  const value = { ...ours, ...own };
  Reflect.defineProperty(error, 'headers', { value, configurable: true, enumerable: true, writable: true });
  throw error;
}
