import type { StoreTransaction } from '@sluice/core';
import { DENIES, FITS, type LeasedBucket } from './rules/leased-bucket.ts';
import type { LeaseDecision, LeaseTransaction } from './rules/decide.ts';

/** One transaction that is decided in the process. */
export interface LeasedEntry extends LeaseTransaction {
  readonly transaction: Pick<StoreTransaction, 'limit' | 'incrementTicks' | 'fitTicks' | 'mode'>;
}

/**
 * The level before the decision, from which the caller derives the same decision. The view may say otherwise: leases pass
 * requests that would not fit, and a process that competes for tokens denies some that would.
 */
export function levelOf(entry: LeasedEntry, decision: LeaseDecision, nowTicks: number): number {
  const { bucket, transaction, mode, spent } = entry;
  const levelTicks = bucket.levelWithoutLeases(nowTicks);
  if (decision.outcome !== 'passed') return deniedLevel(entry, levelTicks, decision, nowTicks);
  const { incrementTicks, fitTicks } = transaction;
  if (spent === undefined) {
    const level = mode === 'spend-only' ? Math.max(levelTicks, fitTicks - incrementTicks + 1) : levelTicks;
    return mode === 'check-only' ? Math.min(level, fitTicks - incrementTicks) : level;
  }
  const taken = mode === 'charge' ? spent.overdraftTicks : incrementTicks;
  const before = Math.max(0, levelTicks - taken);
  return mode === 'charge' ? before : Math.min(before, fitTicks - incrementTicks);
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

function deniedLevel(
  { bucket, transaction, tokens, mode }: LeasedEntry,
  levelTicks: number,
  { retryTicks }: LeaseDecision,
  nowTicks: number,
): number {
  const { incrementTicks, fitTicks } = transaction;
  if (mode === 'charge' || mode === 'spend-only') return levelTicks;
  const look = bucket.look(tokens, nowTicks);
  if (look === FITS) return Math.min(levelTicks, fitTicks - incrementTicks);
  return fitTicks - incrementTicks + (look === DENIES ? bucket.retryTicks : retryTicks);
}
