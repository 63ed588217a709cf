import { limitsStatusOf, statusSettings, type LimitsStatusOptions } from '@sluice/core/http';
import { ADDRESS_EXAMPLE, checkAddress, PeerAddress, type Address } from './address.ts';
import { answer } from './answer.ts';
import { answerResponse, leftResponse } from './answer-response.ts';
import { FetchExchange } from './fetch-exchange.ts';
import type { FetchHandler } from './limit-fetch.ts';
import { checkedOnError, type OnError } from './on-error.ts';
import { stateOf } from './request-state.ts';
import { checkShared } from './short-lived.ts';

/** The options of {@link limitsStatus}. */
export type StatusOptions<Name extends string = string> = LimitsStatusOptions<Request, Name> & {
  /** Returns the address of the client, as in `limitFetch`. */
  readonly address: (request: Request, ...args: never[]) => Address;
  /** Answers a request about which the function of a key threw. Default: as in `limitFetch`. */
  readonly onError?: OnError | undefined;
};

/**
 * Creates a handler that shows a client what is left of its limits, and takes nothing.
 *
 *     export const GET = limitsStatus({ limiter, limits: ['PerClient', 'PerAccount'], address });
 *
 * It answers with JSON, `{ "limits": { "PerClient": { "limit": 100, "remaining": 98, "reset": 1798761601 } } }`, and
 * with the usual header fields. `reset` is in seconds since 1970. Errors of keys go to `onError`. When the store can't
 * answer, the status is 503.
 *
 * @throws {SluiceError} If an option is wrong. The message names the option, the demand, the value and the remedy.
 */
export function limitsStatus<Name extends string = string>(options: StatusOptions<Name>): FetchHandler {
  const settings = statusSettings<Request>(options, ['address', 'onError']);
  checkAddress(options.address, 'limitsStatus', ADDRESS_EXAMPLE);
  const onError = checkedOnError(options.onError);
  checkShared(settings.limiter.store);
  const address = options.address as (request: Request, ...args: readonly unknown[]) => Address;

  return function limitsStatusHandler(request, ...args) {
    const state = stateOf(request, args);
    const peer = new PeerAddress(() => address(request, ...args));
    const exchange = new FetchExchange({ native: request, request, address: peer, end: state.end }, state);
    return answer(state, {
      async run() {
        const status = await limitsStatusOf(settings, exchange);
        return status === 'left' ? leftResponse() : answerResponse(status, request.method);
      },
      onError: (error) => onError(peer.reasonFor(error), request),
      onResponse: () => undefined,
    });
  };
}
