/**
 * Limits of the requests that are in progress at the same time.
 *
 * @module
 */
import { CONCURRENCY } from './kinds/concurrency/concurrency-kind.ts';
import type { Concurrency } from './kinds/concurrency/slot-terms.ts';
import { ofKind, type LimitOfKind } from './kinds/limit-of-kind.ts';
import type { LimitSettings } from './limits/limit-settings.ts';

export type { ConcurrencyOverride } from './kinds/concurrency/concurrency-kind.ts';
export type { Concurrency } from './kinds/concurrency/slot-terms.ts';

/** The options of {@link concurrency}. */
export interface ConcurrencyOptions<Request = unknown> extends LimitSettings<Request>, Concurrency {}

/**
 * A concurrency limit: at most so many requests of an id are in progress at the same time.
 *
 *     const limits = { InFlight: concurrency({ key: accountId(), concurrency: 10 }) };
 */
export function concurrency<Request = unknown>(
  options: ConcurrencyOptions<Request>,
): ConcurrencyOptions<Request> & LimitOfKind<Request> {
  return ofKind<Request, ConcurrencyOptions<Request>>(CONCURRENCY, options);
}
