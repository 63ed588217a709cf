import type { LoadedLimits } from '@sluice/config';
import type { Limiter } from '@sluice/core';
import { limitsOf, overridesOf } from '@sluice/core/kit';
import type { BucketName } from '@sluice/core/store';
import type { OpenLimits } from '../redis/open-limits.ts';
import { explanationOf, type RateFacts } from './explanation.ts';
import { figuresOf, type Figures } from './figures.ts';

/** Where buckets are: a store, or a service that has one. */
export interface BucketSource {
  /** @param cost - The cost of the request that is asked about. */
  readonly figures: (name: BucketName, cost: number) => Promise<Figures>;
  /** What follows from the rate of the id; undefined if none applies to it. */
  readonly rate: (name: BucketName) => Promise<RateFacts | undefined>;
  readonly limiter: Pick<Limiter, 'charge' | 'refund' | 'reset'>;
  /** As in {@link OpenLimits}. */
  readonly check: () => void;
}

/** Returns the buckets of limits on a store. */
export function bucketsOf(
  loaded: Pick<LoadedLimits, 'overrides'>,
  { limiter, keyOptions, check }: Pick<OpenLimits, 'limiter' | 'keyOptions' | 'check'>,
): BucketSource {
  return {
    figures: (name, cost) => figuresOf({ loaded, limiter, ...name, cost }),
    rate: async ({ limit: name, id: text }) => (await explanationOf(limiter, { loaded, name, text, keyOptions })).rate,
    limiter,
    check,
  };
}

/** A name with its canonical id. */
export interface CanonicalName {
  readonly name: BucketName;
  /** What the override that blocks the id is listed for; null if none does. */
  readonly blockedBy: string | null;
}

/** @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, and `ERR_ID` for an id of another format. */
export function canonicalName(
  limiter: Limiter,
  loaded: Pick<LoadedLimits, 'overrides'>,
  { limit, id: text }: BucketName,
): CanonicalName {
  // Throws for the name of no limit.
  limiter.describe(limit);
  const id = limitsOf(limiter).get(limit)!.key.format.canonical(text);
  const overrides = overridesOf(loaded.overrides, limit);
  return { name: { limit, id }, blockedBy: overrides?.rateOf(id) === 'blocked' ? overrides.listedFor(id)! : null };
}
