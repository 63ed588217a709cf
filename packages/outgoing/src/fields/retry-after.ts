import { fieldOf, type FieldSource } from './field-source.ts';
import { waitIn } from './wait.ts';

/**
 * Reads how long to wait after a denial: `retry-after-ms` and `x-ms-retry-after-ms` of Azure, which are finer, or
 * `Retry-After` (RFC 9110 section 10.2.3), seconds or a date.
 *
 * @returns Milliseconds; undefined without such a field.
 */
export function retryAfterIn(fields: FieldSource, nowMs: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const text = fieldOf(fields, name)?.trim();
    if (text !== undefined && /^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text));
  }
  return waitIn(fieldOf(fields, 'retry-after'), nowMs);
}
