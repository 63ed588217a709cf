import { complaint, type SluiceError } from '../checks/errors.ts';
import { fixedLengthMs, type Anchor, type CalendarUnit } from './calendar.ts';
import { timeZoneNamed } from './time-zone.ts';

const DAY_MS = 86_400_000;

/** Weeks from Monday, months from the first day, years from January. */
const DEFAULT_DATE = '2024-01-01';

/**
 * Returns the anchor of a date.
 *
 * @param date - A date of the time zone, `'2026-01-31'`, or an instant. Default: a Monday, 1 January, 00:00.
 * @param where - The name of the date in error messages.
 * @throws {SluiceError} `ERR_OPTION` when it is not a date, or does not exist.
 */
export function anchorOf(
  unit: CalendarUnit,
  timeZone: string,
  date: unknown,
  where: { readonly option: string; readonly limit?: string },
): Anchor {
  const zone = timeZoneNamed(timeZone);
  const isInstant = date instanceof Date;
  const local = isInstant
    ? zone.localAt(checkedMs(date, where))
    : localDate(date === undefined ? DEFAULT_DATE : date, where);
  const fixedMs = fixedLengthMs(unit);
  if (fixedMs !== undefined) {
    const instant = isInstant ? date.getTime() : zone.instantOf(local);
    return { day: 0, timeMs: modulo(instant, fixedMs) };
  }
  return { day: dayOf(unit, new Date(local)), timeMs: modulo(local, DAY_MS) };
}

function dayOf(unit: CalendarUnit, date: Date): number {
  if (unit === 'week') return date.getUTCDay() === 0 ? 7 : date.getUTCDay();
  const day = date.getUTCDate();
  if (unit === 'month') return day;
  return unit === 'year' ? 100 * (date.getUTCMonth() + 1) + day : 0;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function localDate(date: unknown, where: { readonly option: string }): number {
  const local = typeof date === 'string' && DATE.test(date) ? Date.parse(date) : NaN;
  // Some engines read 31 February as 3 March.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 10) !== date) throw notADate(date, where);
  return local;
}

function checkedMs(date: Date, where: { readonly option: string }): number {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw notADate(date, where);
  return ms;
}

function notADate(value: unknown, where: { readonly option: string; readonly limit?: string }): SluiceError {
  const demand = "a date that exists, such as '2026-01-31', or a Date";
  return complaint('ERR_OPTION', { ...where, demand, value, remedy: 'Periods are counted from its day and time.' });
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
