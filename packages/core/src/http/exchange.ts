import type { AddressedRequest } from '../client/client-address.ts';
import type { ReceivedRequest } from '../limiter/setup-watch.ts';
import type { ResponseFields } from './dialects/dialect.ts';
import type { RequestDecision } from './request-decision.ts';

/**
 * How a response ended. `finished`: all of it was handed to the operating system, or to the server that sends it.
 * `aborted`: the client disconnected before, or reset its HTTP/2 stream. `never-begun`: the client had disconnected
 * before the handler could run. `unknown`: the end of this response can't be observed.
 */
export type ExchangeEnd = 'finished' | 'aborted' | 'never-begun' | 'unknown';

/**
 * One request and its response, independent of the framework and of the server: what an adapter implements. `Request`
 * is the type of the request that the framework passes to users' functions.
 */
export interface Exchange<Request> extends AddressedRequest, ReceivedRequest, ResponseFields {
  readonly request: Request;
  /** The method of the request, in upper case. */
  readonly method: string | undefined;
  /**
   * Whether the server may have dropped header fields of the request, see `mayLackFields`. Such a request is refused where
   * proxies are trusted. Left out where that can't be known.
   */
  readonly lacksFields?: boolean;
  /**
   * Calls a function once, when the response has ended; at once when it already has. It may be called several times for
   * one response. Left out where that can't be known: `settle` functions are then an error, and a request that is
   * queued waits for its whole delay, even when its client disconnects.
   *
   * @param done - Where a runtime ends all that a request has begun with it, what this returns has to be waited for.
   */
  onEnd?(done: (end: ExchangeEnd) => unknown): void;
  /**
   * Whether the client disconnected, or reset its stream, before its response was finished. Such a request is not let
   * through. Left out where that can't be known.
   */
  readonly hasLeft?: boolean;
  /**
   * Whether the request can be upgraded to a connection that outlives its response, whose end can't be known. Concurrency
   * limits are then an error. Left out: no.
   */
  readonly closesUnseen?: boolean;
  /**
   * Calls a function once, when the handler of the request has ended, whether its client is still there or not; at once
   * when it already has. Called before the request is let through. Left out where that can't be known:
   * `slotsUntil: 'handler'` is then an error.
   *
   * @param done - As in `onEnd`.
   */
  onHandled?(done: () => unknown): void;
  /** The decision, stored on the framework's request. A value that the user stored there is replaced. */
  decision: RequestDecision | undefined;
}
