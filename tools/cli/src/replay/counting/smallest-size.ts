import { countText } from '../../console/number-text.ts';
import type { CalendarUnit } from '@sluice/core/quota';
import { about, band, percent } from './figures-text.ts';
import type { InputReport, LimitReport } from './report.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The shortest, without the hour that a day or week may lack. */
const PERIOD_MS: Readonly<Record<CalendarUnit, number>> = {
  second: 1000,
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 28 * DAY_MS,
  year: 365 * DAY_MS,
};

/**
 * Whether a log is too short to show how much a client uses of a quota in its period. A tenth may be missing: the log of a day
 * begins with its first request and ends with its last.
 */
export function isShorterThanPeriod({ per }: LimitReport, { fromMs, toMs }: InputReport): boolean {
  return per !== null && (toMs ?? 0) - (fromMs ?? 0) < 0.9 * PERIOD_MS[per];
}

/**
 * Whether the suggested burst is out of all proportion: many times that of the limit, and more than the rate gives in an hour.
 * Clients that need it send far more than the rate.
 */
export function isRateTooLow({ kind, burst, count: tokens, periodMs, suggestion }: LimitReport): boolean {
  if (kind !== 'rate' || suggestion === null) return false;
  return suggestion.burst > Math.max(10 * burst, (tokens * HOUR_MS) / periodMs);
}

/**
 * Returns what the suggestion of a limit is, to follow the word "smallest"; undefined if it has none.
 *
 * @param clients - What the reader calls them.
 */
export function smallestSize(limit: LimitReport, input: InputReport, clients: 'ids' | 'clients'): string | undefined {
  const { kind, per, ids, sampling, suggestion } = limit;
  if (suggestion === null) return undefined;
  const { burst, denyAtMost, deniedIds, theirPart } = suggestion;
  const what = `${sizeName(limit)}${kind === 'rate' ? ' at this rate' : ''} that denies at most ${percent(denyAtMost)} of ${clients}`;
  if (isShorterThanPeriod(limit, input))
    return `${what}: not known, because the log is shorter than ${per === 'hour' ? 'an' : 'a'} ${per}`;
  if (isRateTooLow(limit))
    return `${what}: not shown, because it would be far too large: some of them need a higher rate`;
  if (deniedIds.high === 0) return `${what}: ${countText(burst)}, which denies none`;
  const denied = `${about({ sampling })}${band(deniedIds)} of ${countText(ids)}`;
  return `${what}: ${countText(burst)}. It denies ${denied}, which made ${percent(theirPart.high)} of the requests`;
}

/** Returns the name of the number that limits how many requests may come at once. */
export function sizeName({ kind }: Pick<LimitReport, 'kind'>): 'burst' | 'count' | 'concurrency' {
  if (kind === 'concurrency') return 'concurrency';
  return kind === 'quota' ? 'count' : 'burst';
}
