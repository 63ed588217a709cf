/**
 * Rate limits for servers that take a `Request` and return a `Response`: {@link limitFetch},
 * and {@link limitsStatus} for clients that ask what is left.
 *
 * @module
 */
export { type Address } from './address.ts';
export {
  limitFetch,
  type FetchHandler,
  type LimitFetchOptions,
  type LimitHandler,
  type OnDenied,
} from './limit-fetch.ts';
export { limitsStatus, type StatusOptions } from './limits-status.ts';
export type { OnError } from './on-error.ts';
export { decisionOf } from './request-state.ts';
