import type { StoreTransaction } from '@sluice/core/store';
import type { LeasedBucket } from './rules/leased-bucket.ts';
import type { LeaseTransaction } from './rules/decide.ts';

/** One transaction that is decided in the process. */
export interface LeasedEntry extends LeaseTransaction {
  readonly transaction: Pick<StoreTransaction, 'limit' | 'incrementTicks' | 'fitTicks' | 'mode'>;
}

/**
 * The level before the decision, for its figures: one that waits shows its wait, and one that took tokens that it did. The view
 * may say otherwise: leases pass requests that would not fit, and a process that competes for tokens denies some that would.
 */
export function levelOf({ transaction, mode, spent, waitTicks, levelTicks }: LeasedEntry, hasPassed: boolean): number {
  const { incrementTicks, fitTicks } = transaction;
  /** The highest level at which it fits. */
  const mostTicks = fitTicks - incrementTicks;
  if (waitTicks > 0) return mostTicks + waitTicks;
  if (mode === 'charge') return Math.max(0, levelTicks - (spent?.overdraftTicks ?? 0));
  if (spent !== undefined) return Math.min(Math.max(0, levelTicks - incrementTicks), mostTicks);
  if (mode === 'spend-only') return hasPassed ? Math.max(levelTicks, mostTicks + 1) : levelTicks;
  return Math.min(levelTicks, mostTicks);
}

/** The estimate of the server's clock; that of the process before the first answer. */
export function serverTicks({ stream }: LeasedBucket, nowTicks: number): number {
  return nowTicks + (stream.serverAheadTicks ?? 0);
}

/**
 * The clock of a reading, by which a refund of the decision finds out how it was paid. Clock and level together are the
 * TAT: after a spend from leases, minus the moment at which the oldest of them lapses; after a spend beyond them that in
 * the time of the server; and 0 if nothing can be given back.
 *
 * @param levelTicks - The level in the reading.
 */
export function clockOf({ bucket, spent, transaction }: LeasedEntry, levelTicks: number, nowTicks: number): number {
  if (spent === undefined) return serverTicks(bucket, nowTicks);
  const { lapseTicks } = spent;
  const levelAfterTicks = levelTicks + transaction.incrementTicks;
  if (lapseTicks !== undefined) return -lapseTicks - levelAfterTicks;
  if (spent.overdraftTicks === 0 || bucket.stream.serverAheadTicks === undefined) return -levelAfterTicks;
  return serverTicks(bucket, nowTicks);
}
