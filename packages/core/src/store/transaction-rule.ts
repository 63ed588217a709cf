import { charged, fits, refundable, refunded } from '../rule/gcra.ts';
import type { Mode, StoreRefund, StoreTransaction } from './store.ts';

/** Whether a transaction of this mode denies its batch when it does not fit. */
export function canDeny(mode: Mode): boolean {
  return mode === 'check-and-spend' || mode === 'check-only';
}

/**
 * Whether a batch passes: each transaction that can deny it fits into its bucket.
 *
 * @param start - The index of its first level.
 */
export function passes(batch: readonly StoreTransaction[], levelsTicks: readonly number[], start: number = 0): boolean {
  for (let i = 0; i < batch.length; i++) {
    const { mode, incrementTicks, fitTicks } = batch[i]!;
    if (!fits(levelsTicks[start + i]!, incrementTicks, fitTicks) && canDeny(mode)) return false;
  }
  return true;
}

/** Returns the level of a bucket after a transaction of a batch that passes. */
export function levelAfter(transaction: StoreTransaction, levelTicks: number): number {
  const { mode, incrementTicks } = transaction;
  // It fits, or the batch would not pass.
  if (mode === 'check-and-spend') return levelTicks + incrementTicks;
  if (mode === 'check-only') return levelTicks;
  if (mode === 'charge') return charged(levelTicks, incrementTicks, transaction.capTicks);
  return fits(levelTicks, incrementTicks, transaction.fitTicks) ? levelTicks + incrementTicks : levelTicks;
}

/**
 * Returns the level of a bucket after a refund.
 *
 * @param nowTicks - The clock for the level, see {@link StoreReading}.
 */
export function levelAfterRefund(refund: StoreRefund, levelTicks: number, nowTicks: number): number {
  const { incrementTicks, tatAfterSpendTicks, lineTicks = Infinity } = refund;
  if (tatAfterSpendTicks === undefined) return refunded(levelTicks, incrementTicks);
  const aheadTicks = tatAfterSpendTicks - nowTicks;
  if (Math.max(levelTicks, aheadTicks) > lineTicks && levelTicks !== aheadTicks) return levelTicks;
  return refunded(levelTicks, refundable(incrementTicks, tatAfterSpendTicks, nowTicks));
}
