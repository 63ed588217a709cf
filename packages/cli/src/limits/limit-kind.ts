import type { Limit } from '@sluice/core/kit';

/** The kind of a limit. */
export type Kind = 'rate' | 'quota' | 'concurrency' | 'load';

/** What a limit does beyond its kind. */
export type Feature = 'queue' | 'debt' | 'borrow' | 'pool' | 'overshoot' | 'in each process' | 'hidden' | 'disabled';

/** Returns the kind of a limit. */
export function kindOf({ load, calendar, treatment }: Limit): Kind {
  if (load !== undefined) return 'load';
  if (calendar !== undefined) return 'quota';
  return treatment.slots === undefined ? 'rate' : 'concurrency';
}

/**
 * Returns what a limit does beyond its kind.
 *
 * @param limits - All limits of its set.
 */
export function featuresOf(limit: Limit, limits: ReadonlyMap<string, Limit>): Feature[] {
  const { rate, borrow, treatment, disabled } = limit;
  const given: Record<Feature, boolean> = {
    queue: (rate.waitTicks ?? 0) > 0,
    debt: (rate.maxDebt ?? 0) > 0,
    borrow: borrow !== undefined,
    pool: [...limits.values()].some((other) => other.borrow?.from === limit.name),
    overshoot: treatment.overshoot !== undefined,
    'in each process': isInProcess(limit),
    hidden: treatment.hidden && limit.load === undefined,
    disabled,
  };
  return (Object.keys(given) as Feature[]).filter((feature) => given[feature]);
}

/** Whether a limit is decided by each process by itself, so that Redis has no buckets of it. */
export function isInProcess({ load, treatment }: Limit): boolean {
  return load !== undefined || treatment.slots?.scope === 'process';
}
