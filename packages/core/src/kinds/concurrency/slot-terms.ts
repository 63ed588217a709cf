import { complaint, type SluiceError } from '../../checks/errors.ts';
import { oneOf, wholeNumber } from '../../checks/options.ts';
import { durationTicks, type Duration, type DurationRange } from '../../rule/duration.ts';
import type { SlotTerms } from '../../limits/treatment.ts';
import { TICKS_PER_MS } from '../../rule/ticks.ts';

/** The options of a concurrency limit: at most `concurrency` requests of an id are in progress at the same time. */
export interface Concurrency {
  /** How many requests of cost 1 may be in progress at the same time, a whole number from 1 to 1,000,000. */
  readonly concurrency: number;
  /**
   * After this time, from 1 second to 1 hour, the slots of a process that died are free again. A living process renews its
   * slots, so a request may take longer. Default: `'10s'`.
   */
  readonly expiry?: Duration | undefined;
  /**
   * Whether all processes that share the store count together, or each process by itself, without asking the store. Default:
   * `'store'`.
   */
  readonly scope?: 'store' | 'process' | undefined;
  /**
   * How many slots a process takes from the store at a time, and keeps for its next requests: a whole number from 1 to
   * `concurrency`. With more than 1, most requests do not ask the store about this limit, but up to so many slots of each
   * process may be unused while another process is denied. Only with the scope `'store'`. Default: 1.
   */
  readonly reserve?: number | undefined;
  /** A concurrency limit is always exact. */
  readonly exact?: true | undefined;
}

/** Who counts the slots of a concurrency limit together. */
type SlotScope = NonNullable<Concurrency['scope']>;

/** The scopes, the default first. */
export const SLOT_SCOPES: readonly SlotScope[] = ['store', 'process'];
/** The largest number of slots of a limit. */
export const MAX_SLOTS = 1_000_000;
export const RESERVE_REMEDY = 'For one slot at a time, leave it out.';
/** The range of an `expiry`. */
export const EXPIRY: DurationRange = { minMs: 1000, maxMs: 3_600_000, demand: 'from 1s to 1 hour' };
const DEFAULT_EXPIRY = '10s';

/**
 * Validates how slots are held.
 *
 * @param where - The path of the limit in error messages: `limits.InFlight`.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_DURATION` for a wrong option, `ERR_LIMIT` for a reserve in the process.
 */
export function slotTermsOf(where: string, { concurrency, ...terms }: Concurrency): SlotTerms {
  const { expiry = DEFAULT_EXPIRY, scope = 'store', reserve = 1 } = terms;
  const expiryMs = Math.ceil(durationTicks(`${where}.expiry`, expiry, EXPIRY) / TICKS_PER_MS);
  oneOf(`${where}.scope`, scope, SLOT_SCOPES);
  wholeNumber(`${where}.reserve`, reserve, { min: 1, max: concurrency, remedy: RESERVE_REMEDY });
  if (scope === 'process' && reserve > 1) throw reserveInProcess(`${where}.reserve`, reserve);
  return { expiryMs, scope, reserve };
}

function reserveInProcess(option: string, value: number): SluiceError {
  return complaint('ERR_LIMIT', {
    option,
    demand: "left out with scope: 'process'",
    value,
    remedy: 'Such a limit asks no store, so there is nothing to keep in reserve.',
  });
}
