import { countText } from '../../console/number-text.ts';
import type { Band } from './band.ts';
import type { LimitReport, RouteReport } from './report.ts';

/** Returns a part of a whole as text: `12 to 15 of 300 (5 %)`. */
export function share(part: Band, whole: number): string {
  return `${band(part)} of ${countText(whole)} (${partOf(part, whole)})`;
}

/** Returns a part of a whole in percent, of the larger outcome. */
export function partOf(part: Band, whole: number): string {
  return percent(whole === 0 ? 0 : part.high / whole);
}

/** Returns the part of denied requests that had succeeded. */
export function successPart({ denied, deniedSuccesses }: Pick<LimitReport, 'denied' | 'deniedSuccesses'>): string {
  return partOf(deniedSuccesses, denied.high);
}

/** Returns a band as text: `12`, or `12 to 15`. */
export function band({ low, high }: Band): string {
  return low === high ? countText(low) : `${countText(low)} to ${countText(high)}`;
}

/**
 * Returns how many ids were denied on a route: `3 ids`, or `3 ids of Orders, 1 id of Users` with several limits.
 *
 * @param thing - What the reader calls an id.
 */
export function routeIds(
  { limits: ofRoute }: RouteReport,
  limits: readonly LimitReport[],
  thing: 'id' | 'client',
): string {
  return ofRoute
    .map(({ limit, deniedIds }) => {
      const ids = `${about(limits.find(({ name }) => name === limit)!)}${band(deniedIds)} ${thing}${deniedIds.high === 1 ? '' : 's'}`;
      return limits.length === 1 ? ids : `${ids} of ${limit}`;
    })
    .join(', ');
}

/** Returns the word before a number of ids of a limit: `about ` if it comes from a sample. */
export function about({ sampling }: Pick<LimitReport, 'sampling'>): string {
  return sampling > 1 ? 'about ' : '';
}

/** Returns the routes with denied requests, those with the most first. */
export function deniedRoutes(routes: readonly RouteReport[]): readonly RouteReport[] {
  return routes.filter(({ denied }) => denied.high > 0).toSorted((a, b) => b.denied.high - a.denied.high);
}

/** Returns a part as text, with two digits: `0.034 %`. Only the whole is `100 %`. */
export function percent(part: number): string {
  const rounded = Number((100 * part).toPrecision(2));
  return `${rounded === 100 && part < 1 ? Math.min(99.9, Math.floor(1000 * part) / 10) : rounded} %`;
}

/** Returns so many of a thing as text: `1 id`, `12,345 ids`. */
export function counted(value: number, thing: string): string {
  return `${countText(value)} ${thing}${value === 1 ? '' : 's'}`;
}

/** Returns a time in UTC as text, without its fraction of a second: `2026-11-23 13:05:59`. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
