import type { Limit } from '../limits/limit.ts';
import { storedParts } from '../limits/treatment.ts';
import type { LimitSet } from './limit-set.ts';
import { kindOfLimit } from '../kinds/kind.ts';

/**
 * What a limit has in a store: two limits with the same of all this may share their buckets. Keys are functions, and can't
 * be compared, nor can overrides that a function returns.
 */
export interface StoredLimit {
  /** What its buckets are: the kind, the format of the ids, the calendar, where they are. */
  readonly shape: string;
  /** All numbers by which a bucket is decided. */
  readonly numbers: string;
  /** The numbers for people: `100 per 1 s`. */
  readonly text: string;
}

/** Returns what a set has in a store, by name: its limits, and the ceilings of those that borrow. */
export function storedLimits({ limits }: LimitSet<never>): ReadonlyMap<string, StoredLimit> {
  const stored = new Map<string, StoredLimit>();
  for (const limit of limits.values()) {
    const { links } = kindOfLimit(limit);
    stored.set(limit.name, storedAs('limit', limit, links?.numbers(limit)));
    const other = links?.other(limit);
    if (other !== undefined) stored.set(other.name, storedAs('ceiling', other));
  }
  return stored;
}

function storedAs(role: 'limit' | 'ceiling', limit: Limit<never>, linked?: object): StoredLimit {
  const { kind, key, periods, isStored, treatment } = limit;
  const { rate, fitTicks, capTicks, lineTicks } = limit.stored;
  const ticks = [rate.emissionIntervalTicks, fitTicks, capTicks, lineTicks];
  return {
    shape: JSON.stringify([role, kind.name, key.format.name, periods?.name, isStored]),
    numbers: JSON.stringify([rate.burst, rate.count, ticks, storedParts(treatment), linked]),
    text: kind.describe(limit),
  };
}
