import type { FailurePolicy } from './failure/policy.ts';
import type { Rate } from './rate.ts';
import type { StoreTransaction } from './store.ts';

/** One limit, one id, one cost and one mode, with the numbers that hold for this id. Stores take it as it is. */
export interface Transaction extends StoreTransaction {
  /** Tokens that are asked for, a whole number from 0 to the burst. */
  readonly cost: number;
  readonly rate: Rate;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
  readonly onFailure: FailurePolicy;
}
