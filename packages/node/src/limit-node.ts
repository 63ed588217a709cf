import type { Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  runFlow,
  sendDenial,
  type Denial,
  type FlowOutcome,
  type FlowSettings,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import { complaint } from '@sluice/core/kit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { followed, HttpExchange } from './exchange.ts';
import { errorSender, type OnError } from './on-error.ts';

/** A request of `node:http`, or of the compatibility layer of `node:http2`. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A response of `node:http`, or of the compatibility layer of `node:http2`. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/** A request with the decision about it. */
export type LimitedRequest<Request extends NodeRequest = IncomingMessage> = Request & {
  /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
  rateLimit?: RequestDecision;
};

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The header fields
 * about the limits are already set, the status is not. The result is ignored; errors go to `onError`.
 */
export type OnDenied = (request: IncomingMessage, response: ServerResponse, decision: Decision) => unknown;

type SettleArgs = readonly [request: IncomingMessage, response: ServerResponse];

/**
 * The options of {@link limitNode}. On a server of `node:http2` the functions get its `Http2ServerRequest` and
 * `Http2ServerResponse`.
 */
export type LimitNodeOptions<Name extends string = string> = MiddlewareOptions<IncomingMessage, SettleArgs, Name> & {
  /**
   * Answers a request that does not pass. Default: problem details (RFC 9457) with status 429, 403 for a blocked id, or
   * 503 if the service has no room or the store is unavailable.
   */
  readonly onDenied?: OnDenied | undefined;
  /**
   * Answers a request about which a function of yours threw. Default: status 400 or 431 if that is the status of the
   * error, as for an id that is not valid, otherwise 500 and an event `request-failed` of the limiter.
   */
  readonly onError?: OnError | undefined;
};

/** A listener for the requests of a server. A promise that it returns says when it has ended. */
export type LimitedListener<Request extends NodeRequest, Response extends NodeResponse> = (
  request: Request,
  response: Response,
) => unknown;

/** Limits the requests that reach a listener. */
export type LimitListener = <
  Request extends NodeRequest = IncomingMessage,
  Response extends NodeResponse = ServerResponse,
>(
  listener: LimitedListener<LimitedRequest<Request>, Response>,
) => LimitedListener<Request, Response>;

/**
 * Limits the requests of a server of `node:http`, `node:https` or `node:http2`, by one limit of its own or by limits of a
 * shared limiter. All limits of one call are decided together: a request takes tokens from all of them or from none.
 *
 *     const limit = limitNode({ count: 100, period: '1m' });
 *     createServer(limit((request, response) => response.end('hello'))).listen(3000);
 *
 * The decision is then in `request.rateLimit`. Errors of key, cost, `skip` and `onDenied` functions go to `onError`; errors
 * of `settle` and `onDecision` are reported as the event `callback-failed` of the limiter. What the listener throws is not
 * caught, as on a server without limits.
 *
 * @returns A function that takes a listener and returns one that limits its requests.
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitNode<Name extends string = string>(options: LimitNodeOptions<Name>): LimitListener {
  const settings = flowSettings<IncomingMessage, SettleArgs>(options, ['onDenied', 'onError'], 'limitNode');
  const refuse = denialSender(settings, options.onDenied);
  const fail = errorSender(settings.limiter, options.onError);

  return (listener) => {
    checkListener(listener);
    return followed((request: NodeRequest, response: NodeResponse) => {
      // The flow knows what differs in HTTP/2: both layers have the same methods.
      const exchange = new HttpExchange(request as IncomingMessage, response as ServerResponse);
      const failed = (error: unknown): unknown => {
        exchange.refuse();
        return fail(error, exchange);
      };
      const carryOut = (outcome: FlowOutcome): unknown => {
        if (outcome === null) return exchange.proceed(listener);
        exchange.refuse();
        return outcome === 'left' ? undefined : refuse(outcome, exchange, failed);
      };
      let outcome: ReturnType<typeof runFlow>;
      try {
        outcome = runFlow(settings, exchange, [exchange.request, exchange.outgoing]);
      } catch (error) {
        return failed(error);
      }
      return outcome instanceof Promise ? outcome.then(carryOut, failed) : carryOut(outcome);
    });
  };
}

type Settings = FlowSettings<IncomingMessage, SettleArgs>;
type Fail = (error: unknown) => unknown;

function denialSender(settings: Settings, onDenied: OnDenied | undefined) {
  return (denial: Denial, { request, outgoing }: HttpExchange, fail: Fail): unknown => {
    if (onDenied !== undefined) {
      const { decision } = denial;
      return new Promise((resolve) => resolve(onDenied(request, outgoing, decision))).catch((error: unknown) =>
        fail(errorOf(error)),
      );
    }
    try {
      return sendDenial(settings, outgoing, denial);
    } catch (error) {
      return fail(error);
    }
  };
}

function checkListener(listener: unknown): void {
  if (typeof listener === 'function') return;
  const remedy = 'For example limitNode({ … })((request, response) => response.end()).';
  throw complaint('ERR_OPTION', { option: 'listener', demand: 'a function', value: listener, remedy });
}
