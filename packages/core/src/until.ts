/**
 * Overrides that end.
 *
 * @module
 */
import { EndingOverride } from './definitions/overrides/ending-override.ts';
import { overrideEnd } from './definitions/overrides/override-end.ts';
import type { Override } from './definitions/overrides/override.ts';

export type { EndingOverride } from './definitions/overrides/ending-override.ts';
export { overrideEnd, type OverrideEnd } from './definitions/overrides/override-end.ts';

/**
 * An override that applies until an instant. After it, the id has what it would have without the override: that of a wider
 * network, or the numbers of the limit. Nothing has to be reloaded.
 *
 *     const overrides = { Orders: { '12345678': until('2027-01-31', { count: 600, period: '180m' }) } };
 *
 * @param end - A day, to the end of it in the time zone of the limit, which is UTC for all but quotas; a local time such as
 * `2027-01-31T18:00`; or an instant, `2027-01-31T18:00Z` or a `Date`. One that has passed is not an error.
 * @throws {SluiceError} `ERR_OPTION` when the end is not a date, or does not exist.
 */
export function until(end: string | Date, override: Override): EndingOverride {
  return new EndingOverride(override, overrideEnd('until', end));
}
