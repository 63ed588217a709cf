import { CONCURRENCY } from './concurrency-kind.ts';
import type { Concurrency } from './slot-terms.ts';
import { ofKind, type LimitOfKind } from '../limit-of-kind.ts';
import type { LimitSettings } from '../../limits/limit-settings.ts';

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
