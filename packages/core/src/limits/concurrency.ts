import { complaint, type SluiceError } from '../checks/errors.ts';
import { oneOf, wholeNumber } from '../checks/options.ts';
import { durationTicks, type Duration } from '../rule/duration.ts';
import { countingRate, type Rate } from '../rule/rate.ts';
import { TICKS_PER_MS } from '../rule/ticks.ts';
import { kindOf } from './limit-kind.ts';

/** The numbers of a concurrency limit, as a user writes them. */
export interface ConcurrencyNumbers {
  /** How many requests of cost 1 may be in progress at the same time, a whole number from 1 to 1,000,000. */
  readonly concurrency: number;
  /**
   * After this time, from 1 second to 1 hour, the slots of a process that died are free again. A living process renews its
   * slots, so a request may take longer. Default: `'10s'`.
   */
  readonly lease?: Duration | undefined;
  /**
   * Whether all processes that share the store count together, or each process by itself, without asking the store. Default:
   * `'store'`.
   */
  readonly scope?: SlotScope | undefined;
  /**
   * How many slots a process takes from the store at a time, and keeps for its next requests: a whole number from 1 to
   * `concurrency`. With more than 1, most requests do not ask the store about this limit, but up to so many slots of each
   * process may be unused while another process is denied. Only with the scope `'store'`. Default: 1.
   */
  readonly block?: number | undefined;
}

/** The options of a concurrency limit. */
export const CONCURRENCY_OPTIONS = ['concurrency', 'lease', 'scope', 'block'] as const;

/** Who counts the slots of a concurrency limit together. */
export type SlotScope = 'store' | 'process';

/** The scopes, the default first. */
export const SLOT_SCOPES: readonly SlotScope[] = ['store', 'process'];
/** The largest number of slots of a limit. */
export const MAX_SLOTS = 1_000_000;
const LEASE = { minMs: 1000, maxMs: 3_600_000, demand: 'from 1s to 1 hour' };
const DEFAULT_LEASE = '10s';

/** How the slots of a limit are held. It belongs to the limit, and not to the numbers of an id. Plain data. */
export interface SlotTerms {
  readonly leaseMs: number;
  readonly scope: SlotScope;
  readonly block: number;
}

/** A validated concurrency limit. */
export interface CheckedConcurrency {
  readonly rate: Rate;
  readonly slots: SlotTerms;
}

/**
 * Validates the numbers of a concurrency limit.
 *
 * @param where - The path of the limit in error messages: `limits.InFlight`.
 * @returns `undefined` for a limit of another kind.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_DURATION` for a wrong option, `ERR_LIMIT` for the options of two kinds.
 */
export function concurrencyOf(where: string, definition: object): CheckedConcurrency | undefined {
  if (kindOf(where, definition) !== 'concurrency') return undefined;
  const { concurrency, lease = DEFAULT_LEASE, scope = 'store', block = 1 } = definition as ConcurrencyNumbers;
  const rate = concurrencyRateOf(where, { concurrency });
  const leaseMs = checkedLeaseMs(`${where}.lease`, lease);
  oneOf(`${where}.scope`, scope, SLOT_SCOPES);
  wholeNumber(`${where}.block`, block, { min: 1, max: concurrency, remedy: 'For one slot at a time, leave it out.' });
  if (scope === 'process' && block > 1) throw blockInProcess(`${where}.block`, block);
  return { rate, slots: { leaseMs, scope, block } };
}

/**
 * Validates the number of slots of a limit or an override.
 *
 * @param where - The path of the numbers in error messages: `limits.InFlight`.
 * @throws {SluiceError} `ERR_OPTION` when it is not a whole number from 1 to 1,000,000.
 */
export function concurrencyRateOf(where: string, { concurrency }: Pick<ConcurrencyNumbers, 'concurrency'>): Rate {
  const remedy = 'It is the number of requests in progress, for example concurrency: 10.';
  return countingRate('slots', wholeNumber(`${where}.concurrency`, concurrency, { min: 1, max: MAX_SLOTS, remedy }));
}

/**
 * Validates a `lease`, and rounds it up to whole milliseconds.
 *
 * @param option - Its path in error messages: `limits.InFlight.lease`.
 * @throws {SluiceError} `ERR_DURATION` when it is not a duration from 1 second to 1 hour.
 */
export function checkedLeaseMs(option: string, value: unknown): number {
  return Math.ceil(durationTicks(option, value, LEASE) / TICKS_PER_MS);
}

function blockInProcess(option: string, value: number): SluiceError {
  return complaint('ERR_LIMIT', {
    option,
    demand: "left out with scope: 'process'",
    value,
    remedy: 'Such a limit asks no store, so there is nothing to take in blocks.',
  });
}
