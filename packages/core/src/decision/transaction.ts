import type { Treatment } from '../limits/limit.ts';
import { FALLING, type Rate } from '../rule/rate.ts';
import type { StoreTransaction } from '../store/store.ts';

/**
 * One limit, one id, one cost, one mode and one share, with the numbers that apply to the id. It is passed to stores as
 * it is.
 */
export interface Transaction extends StoreTransaction {
  /** Tokens requested, a whole number of at least 0. Only a charge or a refund may have more than the burst. */
  readonly cost: number;
  /** The part of the bucket that the request may use up: above 0, at most 1. */
  readonly share: number;
  readonly rate: Rate;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
  /** That of its limit. */
  readonly treatment: Treatment;
}

/** The numbers of a blocked id, whose bucket never has a token. `periodMs` is that of the limit. */
export function rateOfBlocked({ periodMs }: Rate): Rate {
  const none = { emissionIntervalTicks: 0, toleranceTicks: 0, maxDebt: undefined, waitTicks: undefined };
  return { burst: 0, count: 0, periodMs, ...none, kind: FALLING };
}

/**
 * Whether the id is blocked. Such a transaction never reaches a store. The burst distinguishes it: that of a limit is
 * at least 1.
 */
export function isBlocked({ rate }: Transaction): boolean {
  return rate.burst === 0;
}

/**
 * Returns the level up to which an increment fits without a delay: that of an empty bucket, or of the transaction's
 * share of it.
 */
export function readyTicks({ fitTicks, rate }: Pick<Transaction, 'fitTicks' | 'rate'>): number {
  return Math.min(fitTicks, rate.toleranceTicks);
}

/** Returns the transaction of a request that can't be held: it fits only without a delay. */
export function withoutDelay(transaction: Transaction): Transaction {
  return { ...transaction, fitTicks: readyTicks(transaction) };
}
