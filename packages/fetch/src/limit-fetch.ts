import type { Awaitable, Decision } from '@sluice/core';
import {
  errorOf,
  flowSettings,
  runFlow,
  type Denial,
  type FlowOutcome,
  type MiddlewareOptions,
} from '@sluice/core/http';
import { complaint } from '@sluice/core/kit';
import { ADDRESS_EXAMPLE, checkAddress, PeerAddress, type Address } from './address.ts';
import { answer } from './answer.ts';
import { answerResponse, leftResponse } from './answer-response.ts';
import { FetchExchange } from './fetch-exchange.ts';
import { checkedOnError, type OnError } from './on-error.ts';
import { stateOf } from './request-state.ts';
import { checkShared } from './short-lived.ts';

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The fields about the
 * limits are added to its response. Errors go to `onError`.
 */
export type OnDenied = (request: Request, decision: Decision) => Awaitable<Response>;

/** Mutable, because there is no response yet when a request is decided. */
type SettleArgs = [request: Request, response: Response];

/** The options of {@link limitFetch}. */
export type LimitFetchOptions<Name extends string = string> = MiddlewareOptions<Request, Readonly<SettleArgs>, Name> & {
  /**
   * Returns the address of the client, or of the proxy in front, from the request and the other arguments of the handler:
   * a `Request` does not contain it. See {@link Address}.
   */
  readonly address: (request: Request, ...args: never[]) => Address;
  /**
   * Answers a request that does not pass. Default: problem details (RFC 9457) with status 429, 403 for a blocked id, or
   * 503 if the service has no room or the store is unavailable.
   */
  readonly onDenied?: OnDenied | undefined;
  /**
   * Answers a request whose limits or whose handler failed. Default: an id or a cost of the client that is not valid is
   * answered with 400, and every other error is thrown on to the server.
   */
  readonly onError?: OnError | undefined;
};

/** A function that answers requests, such as the `fetch` of a server or a route handler. */
export type FetchHandler<Req extends Request = Request, Args extends readonly unknown[] = readonly unknown[]> = (
  request: Req,
  ...args: Args
) => Awaitable<Response>;

/** Limits the requests that reach a handler. */
export type LimitHandler = <Req extends Request = Request, Args extends readonly unknown[] = []>(
  handler: FetchHandler<Req, Args>,
) => FetchHandler<Req, Args>;

/**
 * Limits the requests of a handler that takes a `Request` and returns a `Response`, by one limit of its own or by limits of
 * a shared limiter. All limits of one call are decided together: a request takes tokens from all of them or from none.
 *
 *     const limit = limitFetch({ count: 100, period: '1m', address: (request) => request.headers.get('cf-connecting-ip') });
 *     export default { fetch: limit((request) => new Response('hello')) };
 *
 * {@link decisionOf} returns the decision. Errors of key, cost, `skip` and `onDenied` functions go to `onError`; errors of
 * `settle` and `onDecision` are reported as the event `callback-failed` of the limiter.
 *
 * @returns A function that takes a handler and returns one that limits its requests.
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitFetch<Name extends string = string>(options: LimitFetchOptions<Name>): LimitHandler {
  const settings = flowSettings<Request, Readonly<SettleArgs>>(
    options,
    ['address', 'onDenied', 'onError'],
    'limitFetch',
  );
  checkAddress(options.address, 'limitFetch', ADDRESS_EXAMPLE);
  const onError = checkedOnError(options.onError);
  checkShared(settings.limiter.store);
  const address = options.address as (request: Request, ...args: readonly unknown[]) => Address;
  const unanswered = leftResponse();
  const refuse = denialMaker(options.onDenied);

  return (handler) => {
    checkHandler(handler);
    return (request, ...args) => {
      const state = stateOf(request, args);
      const peer = new PeerAddress(() => address(request, ...args));
      const settleArgs: SettleArgs = [request, unanswered];
      const exchange = new FetchExchange({ native: request, request, address: peer, end: state.end }, state);
      const carryOut = (outcome: FlowOutcome): Awaitable<Response> => {
        if (outcome === null) return exchange.proceed(() => handler(request, ...args));
        return outcome === 'left' ? leftResponse() : refuse(request, outcome);
      };
      return answer(state, {
        run() {
          const outcome = runFlow(settings, exchange, settleArgs);
          return outcome instanceof Promise ? outcome.then(carryOut) : carryOut(outcome);
        },
        onError: (error) => onError(peer.reasonFor(error), request),
        onResponse: (response) => void (settleArgs[1] = response),
      });
    };
  };
}

function denialMaker(onDenied: OnDenied | undefined): (request: Request, denial: Denial) => Awaitable<Response> {
  if (onDenied === undefined) return (request, denial) => answerResponse(denial, request.method);
  return (request, { decision }) =>
    new Promise<Response>((resolve) => resolve(onDenied(request, decision))).catch((cause: unknown) => {
      throw errorOf(cause);
    });
}

function checkHandler(handler: unknown): void {
  if (typeof handler === 'function') return;
  const remedy = "For example limitFetch({ … })((request) => new Response('hello')).";
  throw complaint('ERR_OPTION', { option: 'handler', demand: 'a function', value: handler, remedy });
}
