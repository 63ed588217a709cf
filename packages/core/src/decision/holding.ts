import type { Awaitable } from '../async/awaitable.ts';

/**
 * How a response ended. `finished`: all of it was handed to the operating system, or to the server that sends it.
 * `aborted`: the client disconnected before, or reset its HTTP/2 stream. `never-begun`: the client had disconnected
 * before the handler could run. `unknown`: the end of this response can't be observed.
 */
export type ExchangeEnd = 'finished' | 'aborted' | 'never-begun' | 'unknown';

/** How the end of a request is found. */
export interface EndingExchange {
  /**
   * Calls a function once, when the response has ended; at once when it already has. It may be called several times for
   * one response. Left out where that can't be known: `settle` functions are then an error, and a request that is
   * queued waits for its whole delay, even when its client disconnects.
   *
   * @param done - Where a runtime ends all that a request has begun with it, what this returns has to be waited for.
   */
  onEnd?(done: (end: ExchangeEnd) => unknown): void;
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
}

/**
 * Until when the requests of a middleware hold the slots of its concurrency limits.
 *
 * - `'response'`: until the response is over. When the client leaves, the slot is free at once, while the handler may
 *   still work.
 * - `'handler'`: until the handler has ended, even after the client has left, and even if the client is still reading the
 *   response. In Koa and Fastify that is when its promise settles. In Express, and in a Fastify handler without a
 *   promise, it is when the response was ended (`res.end`, `res.send`, `reply.send`, …) or destroyed.
 * - A function: called when the response is over, with the arguments of `settle`. The slots are released when the promise
 *   that it returns settles, either way; at once for any other value.
 */
export type HeldUntil<SettleArgs extends readonly unknown[] = readonly unknown[]> =
  | 'response'
  | 'handler'
  | ((...args: SettleArgs) => unknown);

/** A decision that holds something. */
export interface Holder {
  /** What it holds, or has held. */
  readonly holding: Holding | undefined;
}

/** What a decision holds until it is released. */
export interface Holding {
  /** Never throws or rejects. */
  release(): Awaitable<void>;
  /**
   * Releases it when the response of the request is over, whatever happened to it.
   *
   * @param decision - The one that holds it. It stays reachable until then: what a dropped decision holds is abandoned.
   */
  releaseAfterResponse(decision: Holder, exchange: EndingExchange): void;
  /**
   * Releases it when the handler of the request has ended, which is now let through, or when the promise settles that a
   * function returns at the end of the response.
   *
   * @param decision - The one that holds it.
   */
  releaseAfterHandler<SettleArgs extends readonly unknown[]>(
    decision: Holder,
    exchange: EndingExchange,
    until: HeldUntil<SettleArgs>,
    settleArgs: SettleArgs,
  ): void;
}
