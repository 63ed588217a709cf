import type { Limiter } from '@sluice/core';
import { assertFits, wholeNumber } from '@sluice/core/kit';

/** The largest `count` of a quota. */
const MOST_COST = 1_000_000_000_000;

/** A cost that is the same for each call, as a user writes it. */
interface GivenCost {
  readonly limit: string;
  readonly cost: unknown;
  /** The option that it was given by. */
  readonly option: string;
}

/**
 * Gives a cost that is the same for each call.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is not a whole number of at least 0, `ERR_COST_OVER_BURST` when it could never
 * pass, `ERR_UNKNOWN_LIMIT`.
 */
export function fixedCost(limiter: Limiter<never>, { limit, cost: given, option }: GivenCost): number {
  const cost = wholeNumber(option, given, { min: 0, max: MOST_COST });
  assertFits(limiter, { limit, cost, option });
  return cost;
}
