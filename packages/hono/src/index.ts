/**
 * Rate limits for Hono 4: the middleware {@link rateLimit} and the handler {@link limitsStatus}.
 *
 * @module
 */
import type { Awaitable, Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  limitsStatusOf,
  runFlow,
  statusSettings,
  type Denial,
  type FlowOutcome,
  type LimitsStatusOptions,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import type { Address } from '@sluice/fetch';
import { answerResponse, checkAddress, checkShared, leftResponse, PeerAddress } from '@sluice/fetch/kit';
import type { Context, Handler, MiddlewareHandler } from 'hono';
import { endOf, HonoExchange, type ContextEnd } from './exchange.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
    rateLimit?: RequestDecision;
  }
}

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The header fields
 * about the limits are already set, the status is not. Errors go to Hono's `onError`.
 */
export type OnDenied = (c: Context, decision: Decision) => Awaitable<Response>;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<Context, readonly [Context], Name> & {
  /**
   * Returns the address of the client, or of the proxy in front. Hono has a `getConnInfo` for each server that gives it:
   * `address: (c) => getConnInfo(c).remote.address`.
   */
  readonly address: (c: Context) => Address;
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
 *     import { getConnInfo } from '@hono/node-server/conninfo';
 *
 *     const address = (c: Context) => getConnInfo(c).remote.address;
 *     app.use(rateLimit({ count: 100, period: '1m', address }));
 *     app.post('/orders', rateLimit({ limiter, limits: [{ limit: 'OrdersPerAccount', cost: 10 }], address }), createOrder);
 *
 * The decision is then in `c.var.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to Hono's `onError`;
 * errors of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function rateLimit<Name extends string = string>(options: RateLimitOptions<Name>): MiddlewareHandler {
  const settings = flowSettings<Context, readonly [Context]>(options, ['address', 'onDenied']);
  checkAddress(options.address, 'rateLimit', ADDRESS_EXAMPLE);
  checkShared(settings.limiter.store);
  const { address } = options;
  const refuse = denialMaker(options.onDenied);

  return async function rateLimitMiddleware(c, next) {
    const { end, isOutermost } = endOf(c);
    const peer = new PeerAddress(() => address(c));
    const exchange = new HonoExchange({ native: c, request: c.req.raw, address: peer, end });
    const carryOut = async (outcome: FlowOutcome): Promise<Response | undefined> => {
      if (outcome !== null) return outcome === 'left' ? leftResponse() : refuse(c, outcome);
      // Not what it returns: that is no response.
      await exchange.proceed(next);
      return undefined;
    };
    try {
      const outcome = runFlow(settings, exchange, [c]);
      const response = await carryOut(outcome instanceof Promise ? await outcome : outcome);
      if (!isOutermost) return response;
      observe(c, end, response);
      return response;
    } catch (error) {
      // An outer middleware of Hono, or its server, makes a response that is not seen here.
      if (isOutermost) end.end('aborted');
      throw peer.reasonFor(error);
    }
  };
}

/** The options of {@link limitsStatus}. */
export type StatusOptions<Name extends string = string> = LimitsStatusOptions<Context, Name> & {
  /** Returns the address of the client, as in {@link rateLimit}. */
  readonly address: (c: Context) => Address;
};

/**
 * Creates a handler that shows a client what is left of its limits, and takes nothing.
 *
 *     app.get('/rate_limit', limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'], address }));
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to Hono's `onError`. When the store
 * can't answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(options: StatusOptions<Name>): Handler {
  const settings = statusSettings<Context>(options, ['address']);
  checkAddress(options.address, 'limitsStatus', ADDRESS_EXAMPLE);
  checkShared(settings.limiter.store);
  const { address } = options;
  return async function limitsStatusHandler(c) {
    const peer = new PeerAddress(() => address(c));
    const exchange = new HonoExchange({ native: c, request: c.req.raw, address: peer, end: endOf(c).end });
    const status = await limitsStatusOf(settings, exchange).catch((error: unknown) => {
      throw errorOf(peer.reasonFor(error));
    });
    return status === 'left' ? leftResponse() : answerResponse(status, c.req.method);
  };
}

const ADDRESS_EXAMPLE = 'on Node address: (c) => getConnInfo(c).remote.address';

/** Observes the response to a request: what Hono has by now, unless it was denied. */
function observe(c: Context, end: ContextEnd, denial: Response | undefined): void {
  if (denial !== undefined) return end.end('finished');
  const observed = end.observe(c.res);
  if (observed !== c.res) c.res = observed;
}

function denialMaker(onDenied: OnDenied | undefined): (c: Context, denial: Denial) => Awaitable<Response> {
  if (onDenied === undefined) return (c, denial) => answerResponse(denial, c.req.method);
  return (c, { decision }) =>
    new Promise<Response>((resolve) => resolve(onDenied(c, decision))).catch((cause: unknown) => {
      throw errorOf(cause);
    });
}
