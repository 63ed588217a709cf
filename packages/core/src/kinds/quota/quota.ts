import { ofKind, type LimitOfKind } from '../limit-of-kind.ts';
import { QUOTA, type Quota } from './quota-kind.ts';
import type { LimitSettings } from '../../limits/limit-settings.ts';

/** The options of {@link quota}. */
export interface QuotaOptions<Request = unknown> extends LimitSettings<Request>, Quota {}

/**
 * A quota: `count` tokens in each calendar period, which all come back at its end.
 *
 *     const limits = { Monthly: quota({ key: accountId(), count: 1_000_000, per: 'month' }) };
 */
export function quota<Request = unknown>(options: QuotaOptions<Request>): QuotaOptions<Request> & LimitOfKind<Request> {
  return ofKind<Request, QuotaOptions<Request>>(QUOTA, options);
}
