import type { EnvoyUnit } from './envoy-limit.ts';

/** How a fixed window becomes a limit. */
export type ImportAs = 'window' | 'bucket' | 'strict';

/** The words of `--as`. */
export const IMPORT_AS: readonly ImportAs[] = ['window', 'bucket', 'strict'];

/** The numbers of a limit, as a file has them. */
export type ImportedNumbers = Readonly<Record<string, string | number>>;

/** The lengths of the windows of envoyproxy/ratelimit: a month has 30 days, a year 365. */
const PERIODS: Readonly<Record<EnvoyUnit, string>> = {
  second: '1s',
  minute: '1m',
  hour: '1h',
  day: '24h',
  week: '168h',
  month: '720h',
  year: '8760h',
};

/** Units whose windows are not periods of the calendar, and where theirs begin. */
const OTHER_WINDOWS: Readonly<Partial<Record<EnvoyUnit, string>>> = {
  week: 'windows of 7 days from a Thursday',
  month: 'windows of 30 days since 1970',
  year: 'windows of 365 days since 1970',
};

const MAX_TOKENS = 1_000_000_000;
/** The most tokens that come back in a unit: 16 per microsecond. */
const MOST_IN_PERIOD: Readonly<Partial<Record<EnvoyUnit, number>>> = { second: 16_000_000, minute: 960_000_000 };
/** The most tokens of a quota, for the units of which Envoy's largest number is more. */
const MOST_IN_WINDOW: Readonly<Partial<Record<EnvoyUnit, number>>> = {
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
};

/**
 * Returns the numbers for so many requests per unit, and what differs from the window.
 *
 * `window`: the same windows, as a quota. `bucket`: as many at once, and as many per unit in the long run, so never more
 * than the 2N that fit around the end of a window. `strict`: never more than N in any unit.
 */
export function importedNumbers(
  requests: number,
  unit: EnvoyUnit,
  as: ImportAs,
): { readonly numbers: ImportedNumbers; readonly note: string | undefined } {
  const count = Math.min(requests, MOST_IN_PERIOD[unit] ?? MAX_TOKENS);
  if (as === 'strict') {
    return {
      numbers: { burst: Math.ceil(count / 2), count: Math.max(1, Math.floor(count / 2)), period: PERIODS[unit] },
      note: noteOfCut(requests, count, unit),
    };
  }
  const bucket = { burst: count, count, period: PERIODS[unit] };
  if (as === 'bucket') return { numbers: bucket, note: noteOfCut(requests, count, unit) };
  const inWindow = Math.min(requests, MOST_IN_WINDOW[unit] ?? requests);
  if (inWindow < count) {
    const what = `${requests} is more than a quota per ${unit} can have; it is a bucket`;
    return { numbers: bucket, note: count < requests ? `${what} of ${count} now` : what };
  }
  const windows = OTHER_WINDOWS[unit];
  const note =
    windows === undefined
      ? noteOfCut(requests, inWindow, unit)
      : `it has ${windows}, and counts calendar ${unit}s in UTC now`;
  return { numbers: { count: inWindow, per: unit }, note };
}

function noteOfCut(requests: number, count: number, unit: EnvoyUnit): string | undefined {
  return count < requests ? `${requests} per ${unit} is more than a limit can have; it is ${count} now` : undefined;
}
