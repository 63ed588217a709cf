import { borrowTermsOf } from '@sluice/core/kinds';
import type { Limit } from '@sluice/core/kit';
import type { CalendarUnit } from '@sluice/core/quota';
import { countText, durationText } from '../console/number-text.ts';

/** The kind of a limit. */
export type Kind = Limit['rate']['kind']['name'];

/** What a limit does beyond its kind. */
export type Feature = 'queue' | 'debt' | 'borrow' | 'pool' | 'overshoot' | 'in each process' | 'hidden' | 'disabled';

/**
 * Returns what a limit does beyond its kind.
 *
 * @param limits - All limits of its set.
 */
export function featuresOf(limit: Limit, limits: ReadonlyMap<string, Limit>): Feature[] {
  const { rate, kind, treatment, disabled } = limit;
  const given: Record<Feature, boolean> = {
    queue: (rate.waitTicks ?? 0) > 0,
    debt: (rate.maxDebt ?? 0) > 0,
    borrow: borrowTermsOf(limit) !== undefined,
    pool: [...limits.values()].some((other) => borrowTermsOf(other)?.from === limit.name),
    overshoot: treatment.overshoot !== undefined,
    'in each process': isInProcess(limit),
    hidden: treatment.hidden && kind.level !== 'own',
    disabled,
  };
  return (Object.keys(given) as Feature[]).filter((feature) => given[feature]);
}

/** Whether a limit is decided by each process by itself, so that Redis has no buckets of it. */
export function isInProcess({ isStored }: Limit): boolean {
  return !isStored;
}

/** The numbers of a rate, a quota or a concurrency limit, or of an override. */
export interface Numbers {
  /** How many requests may be in progress at the same time, at a concurrency limit; `count` is the same. */
  readonly burst: number;
  readonly count: number;
  /** 0 for limits of other kinds than rate. */
  readonly periodMs: number;
}

/** Numbers, and what they are of. */
export interface KindAndNumbers extends Numbers {
  readonly kind: Kind;
  /** The calendar period of a quota; null for others. */
  readonly per: CalendarUnit | null;
}

const SINGLE = new Map([
  ['1 s', 'second'],
  ['1 min', 'minute'],
  ['1 h', 'hour'],
  ['1 d', 'day'],
]);

/** Returns numbers as text: `60 per minute, burst 20`. */
export function numbersText({ kind, burst, count, periodMs, per }: KindAndNumbers): string {
  if (kind === 'load') return 'the load of each process';
  if (kind === 'concurrency') return `${countText(burst)} at the same time`;
  if (kind === 'quota') return `${countText(count)} per calendar ${per}`;
  const period = durationText(periodMs);
  return `${countText(count)} per ${SINGLE.get(period) ?? period}, burst ${countText(burst)}`;
}
