/**
 * Limits that count tokens in periods of the calendar.
 *
 * @module
 */
export type { CalendarUnit } from './calendar/calendar.ts';
export type { AnchorDate } from './kinds/quota/limit-calendar.ts';
export { quota, type QuotaOptions } from './kinds/quota/quota.ts';
export type { Quota, QuotaOverride } from './kinds/quota/quota-kind.ts';
