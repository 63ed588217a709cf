/**
 * Limits that count tokens in periods of the calendar.
 *
 * @module
 */
import { ofKind, type LimitOfKind } from './kinds/limit-of-kind.ts';
import { QUOTA, type Quota } from './kinds/quota/quota-kind.ts';
import type { LimitSettings } from './limits/limit-settings.ts';

export type { CalendarUnit } from './calendar/calendar.ts';
export type { AnchorDate } from './kinds/quota/limit-calendar.ts';
export type { Quota, QuotaOverride } from './kinds/quota/quota-kind.ts';

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
