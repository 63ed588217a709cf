/**
 * Limits of the requests that are in progress at the same time.
 *
 * @module
 */
export { concurrency, type ConcurrencyOptions } from './kinds/concurrency/concurrency.ts';
export type { ConcurrencyOverride } from './kinds/concurrency/concurrency-kind.ts';
export type { Concurrency } from './kinds/concurrency/slot-terms.ts';
