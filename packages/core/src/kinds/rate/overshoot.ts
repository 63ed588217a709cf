import { SluiceError } from '../../checks/errors.ts';
import { checkBoolean } from '../../checks/options.ts';
import { wholeShareOf } from '../../rule/gcra.ts';
import type { Numbers } from '../../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../../rule/ticks.ts';
import type { Limit } from '../../limits/limit.ts';
import { checkOption, type OptionRow } from '../../limits/option.ts';
import type { Treatment } from '../../limits/treatment.ts';
import type { LeaseDescription } from '../../store/lease-description.ts';
import type { Store } from '../../store/store.ts';

/** Whether a limit is decided exactly, or by leases where the store has them. */
export interface Exactness {
  /**
   * How far all processes together may exceed the limit, as a part of its burst: above 0, at most 1. A store with leases
   * then decides most requests in the process. Stores without leases decide exactly, so that processes with and without
   * them can share limits. Default: none.
   */
  readonly overshoot?: number | undefined;
  /** Decides exactly, by a call of the store. That is the default: it can't be given together with `overshoot`. */
  readonly exact?: boolean | undefined;
}

/** The options of a rate whose exact decision does not fit together with leases, and why. */
const EXACT_OPTIONS = {
  maxWait: 'the order of its queue is exact',
  maxDebt: 'its debt is exact',
  borrow: 'what is left of its pool is exact',
} as const;

/** The row of `overshoot`. */
export const OVERSHOOT_ROW: OptionRow = {
  about:
    'How far all processes together may exceed the limit, as a part of its burst, so that a store with leases decides most requests in the process.',
  value: {
    type: 'fraction',
    most: 1,
    demand: 'a number above 0, at most 1',
    example: '0.1',
    remedy: 'It is a part of the burst: 0.1 for a tenth. For an exact limit, leave it out.',
  },
};

/**
 * Validates `overshoot` and `exact`.
 *
 * @param where - The path of the limit in error messages: `limits.Orders`.
 * @returns The overshoot; `undefined` for a limit that is decided exactly.
 * @throws {SluiceError} `ERR_OPTION` for a wrong value, `ERR_LIMIT` for an overshoot beside something that is exact.
 */
export function overshootOf(where: string, definition: Exactness): number | undefined {
  const { overshoot, exact = false } = definition;
  checkBoolean(`${where}.exact`, exact);
  if (overshoot === undefined) return undefined;
  checkOption(OVERSHOOT_ROW, `${where}.overshoot`, overshoot);
  if (exact) throw besideExact(where, 'exact', 'they contradict each other');
  const given = definition as Readonly<Record<string, unknown>>;
  for (const [option, why] of Object.entries(EXACT_OPTIONS)) {
    if (given[option] !== undefined) throw besideExact(where, option, why);
  }
  return overshoot;
}

/**
 * Returns the highest level that decisions leave at a limit: its cap, and above it what processes with leases may let
 * through. How many processes there are need not be known: together they stay within the overshoot.
 */
export function highestLevel(capTicks: number, rate: RateNumbers, { overshoot }: Treatment): number {
  if (overshoot === undefined) return capTicks;
  const beyondTicks = wholeShareOf(rate.burst, overshoot) * rate.emissionIntervalTicks;
  return Math.min(capTicks + beyondTicks, MAX_TOLERANCE_TICKS);
}

/**
 * Returns how a store decides a limit with an `overshoot`; `undefined` for a limit without one, and for a store without
 * leases.
 */
export function leaseOf(store: Store, { rate, treatment }: Limit<never>): LeaseDescription | undefined {
  const { overshoot, onFailure } = treatment;
  if (overshoot === undefined) return undefined;
  return store.describeLease?.({ overshoot, onFailure, burst: rate.burst, intervalTicks: rate.emissionIntervalTicks });
}

type RateNumbers = Pick<Numbers, 'burst' | 'emissionIntervalTicks'>;

function besideExact(path: string, option: string, why: string): SluiceError {
  return new SluiceError('ERR_LIMIT', `has \`overshoot\` and \`${option}\`: ${why}. Remove one of the two.`, { path });
}
