import type { Limiter, SpendEntry } from '@sluice/core';
import { complaint, isPlainObject, limitsOf, type Limit } from '@sluice/core/kit';

/** The names of limits, by what a provider calls its own. */
export type LearnNames<Name extends string = string> = Readonly<Record<string, Name>>;

/** A bucket of a call that learns. */
export interface Target {
  readonly key: string;
  readonly limit: Limit<never>;
  readonly id: string;
  readonly cost: number;
  /** Whether the store can be told what was learnt. If not, only this process knows it. */
  readonly isRate: boolean;
}

/**
 * Returns the buckets of a call that learn. The first learns what is not said to be of another one: it is what `requests` is
 * mapped to, or the rate that loses least by a restriction, which leaves it empty: that which fills fastest. Limits of a call
 * are decided together, so that one suffices to hold it back.
 */
export function targetsOf(
  limits: ReadonlyMap<string, Limit<never>>,
  entries: readonly SpendEntry[],
  learn: LearnNames,
): readonly Target[] {
  const all = entries.flatMap((entry) => targetOf(limits.get(entry.limit), entry));
  if (all.length < 2) return all;
  const first = all.find(({ limit }) => limit.name === learn['requests']) ?? all.reduce(better);
  const mapped = new Set(Object.values(learn));
  return [first, ...all.filter((target) => target !== first && mapped.has(target.limit.name))];
}

function targetOf(limit: Limit<never> | undefined, { id, cost = 1 }: SpendEntry): readonly Target[] {
  if (limit === undefined) return [];
  return [{ key: `${limit.name}:${id}`, limit, id, cost, isRate: isRate(limit) }];
}

function better(one: Target, other: Target): Target {
  if (one.isRate !== other.isRate) return one.isRate ? one : other;
  // A number of requests says nothing about tokens.
  if ((one.cost === 1) !== (other.cost === 1)) return one.cost === 1 ? one : other;
  return other.limit.rate.toleranceTicks < one.limit.rate.toleranceTicks ? other : one;
}

/** As `Limiter.restrict` demands it. */
function isRate({ kind, treatment }: Limit<never>): boolean {
  return kind.level === 'falls' && treatment.isPlain && treatment.overshoot === undefined;
}

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_LIMIT`. */
export function canLearn<Name extends string>(limiter: Limiter<never, Name>, learn: LearnNames<Name>): void {
  if (!isPlainObject(learn)) throw wrong('learn', 'the names of limits by those of the provider', learn);
  for (const [of, name] of Object.entries<Name>(learn)) {
    limiter.limit(name);
    if (!isRate(limitsOf(limiter).get(name)!)) throw wrong(`learn.${of}`, 'a rate without overshoot and borrow', name);
  }
}

function wrong(option: string, demand: string, value: unknown): Error {
  const remedy = "For example learn: { requests: 'Requests', tokens: 'Tokens' }.";
  return complaint('ERR_OPTION', { option, demand, value, remedy });
}
