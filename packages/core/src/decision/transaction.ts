import type { FailurePolicy } from '../limits/failure-policy.ts';
import type { Rate } from '../rule/rate.ts';
import type { StoreTransaction } from '../store/store.ts';

/** One limit, one id, one cost and one mode, with the numbers of this id. Stores take it as it is. */
export interface Transaction extends StoreTransaction {
  /** Tokens that are asked for, a whole number from 0 to the burst. */
  readonly cost: number;
  readonly rate: Rate;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
  readonly onFailure: FailurePolicy;
  /** Whether clients are not told of the limit. */
  readonly hidden: boolean;
}

/** The numbers of a blocked id: no token is ever there. `period` is that of the limit's own numbers. */
export function rateOfBlocked({ periodMs }: Rate): Rate {
  return { burst: 0, count: 0, periodMs, emissionIntervalTicks: 0, toleranceTicks: 0 };
}

/** Whether the id is blocked. Such a transaction never reaches a store: limits have a burst of at least 1. */
export function isBlocked({ rate }: Transaction): boolean {
  return rate.burst === 0;
}
