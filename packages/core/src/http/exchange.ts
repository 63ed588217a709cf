import type { AddressedRequest } from '../client/client-address.ts';
import type { EndingExchange, ExchangeEnd } from '../decision/holding.ts';
import type { ReceivedRequest } from '../limiter/setup-watch.ts';
import type { ResponseFields } from './dialects/dialect.ts';
import type { RequestDecision } from './request-decision.ts';

export type { ExchangeEnd };

/**
 * One request and its response, independent of the framework and of the server: what an adapter implements. `Request`
 * is the type of the request that the framework passes to users' functions.
 */
export interface Exchange<Request> extends AddressedRequest, ReceivedRequest, ResponseFields, EndingExchange {
  readonly request: Request;
  /** The method of the request, in upper case. */
  readonly method: string | undefined;
  /**
   * Whether the server may have dropped header fields of the request, see `mayLackFields`. Such a request is refused where
   * proxies are trusted. Left out where that can't be known.
   */
  readonly lacksFields?: boolean;
  /**
   * Whether the client disconnected, or reset its stream, before its response was finished. Such a request is not let
   * through. Left out where that can't be known.
   */
  readonly hasLeft?: boolean;
  /** The decision, stored on the framework's request. A value that the user stored there is replaced. */
  decision: RequestDecision | undefined;
}
