import { oneOf } from '../../checks/options.ts';
import { durationTicks, type Duration, type DurationRange } from '../../rule/duration.ts';
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
  /** A concurrency limit is always exact. */
  readonly exact?: true | undefined;
}

/** How the slots of a limit are held: the `holding` of its treatment. It belongs to the limit, and not to the numbers of an id. */
export interface SlotTerms {
  readonly expiryMs: number;
  /** Whether all processes that share the store count together, or each process by itself. */
  readonly scope: 'store' | 'process';
}

/** Who counts the slots of a concurrency limit together. */
type SlotScope = NonNullable<Concurrency['scope']>;

/** The scopes, the default first. */
export const SLOT_SCOPES: readonly SlotScope[] = ['store', 'process'];
/** The largest number of slots of a limit. */
export const MAX_SLOTS = 1_000_000;
/** The range of an `expiry`. */
export const EXPIRY: DurationRange = { minMs: 1000, maxMs: 3_600_000, demand: 'from 1s to 1 hour' };
const DEFAULT_EXPIRY = '10s';

/**
 * Validates how slots are held.
 *
 * @param where - The path of the limit in error messages: `limits.InFlight`.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_DURATION` for a wrong option.
 */
export function slotTermsOf(where: string, { expiry = DEFAULT_EXPIRY, scope = 'store' }: Concurrency): SlotTerms {
  const expiryMs = Math.ceil(durationTicks(`${where}.expiry`, expiry, EXPIRY) / TICKS_PER_MS);
  oneOf(`${where}.scope`, scope, SLOT_SCOPES);
  return { expiryMs, scope };
}
