import { fieldOf, type FieldSource } from './field-source.ts';
import { dateIn, waitIn } from './wait.ts';

/**
 * Returns the time of the clock that has made the dates of an answer, its `Date`, in milliseconds since 1970.
 *
 * @param nowMs - The time for an answer without one.
 */
export function providersMs(fields: FieldSource, nowMs: number): number {
  return dateIn(fieldOf(fields, 'date')?.trim() ?? '') ?? nowMs;
}

/**
 * Reads how long to wait after a denial: `retry-after-ms` and `x-ms-retry-after-ms` of Azure, which are finer, or
 * `Retry-After` (RFC 9110 section 10.2.3), seconds or a date.
 *
 * @param nowMs - The time from which a date is measured, in milliseconds since 1970.
 * @returns Milliseconds; undefined without such a field.
 */
export function retryAfterIn(fields: FieldSource, nowMs: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const text = fieldOf(fields, name)?.trim();
    if (text !== undefined && /^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text));
  }
  return waitIn(fieldOf(fields, 'retry-after'), nowMs);
}
