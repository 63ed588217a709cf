/**
 * Rate limits for servers that take a `Request` and return a `Response`: {@link limitFetch}.
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
  type OnError,
} from './limit-fetch.ts';
export { decisionOf } from './request-state.ts';
