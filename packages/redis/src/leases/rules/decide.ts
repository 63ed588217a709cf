import type { Mode } from '@sluice/core/store';
import { DENIES, EXACT, FITS, UNAVAILABLE, WAITS, type LeasedBucket, type Look } from './leased-bucket.ts';
import type { Spent } from './lease.ts';

/** One bucket of a request. A batch of 1 to 8 of them has no bucket twice. */
export interface LeaseTransaction {
  readonly bucket: LeasedBucket;
  /** The cost, a whole number from 0 to the burst. */
  readonly tokens: number;
  readonly mode: Mode;
  /** What it took, once its batch has passed. Undefined if it took nothing. */
  spent: Spent | undefined;
  /**
   * How long it makes its batch wait, once that is denied: above 0 for at least one of the batch. 0 if it fitted. It is what
   * came of the decision, and no later look at the bucket can tell: meanwhile the clock has moved, and others have spent.
   */
  waitTicks: number;
  /** The level of its bucket right after the batch was decided, without the tokens of leases. */
  levelTicks: number;
}

/** The outcome of a batch. */
export interface LeaseDecision {
  /**
   * - `passed`: everything was taken.
   * - `denied`: nothing was taken. A bucket does not have the tokens, or the process can't know it.
   * - `unavailable`: nothing was taken. Redis does not answer, and a limit has the failure policy `closed`.
   * - `waits`: nothing was taken. The batch can be decided after a sync.
   * - `exact`: nothing was taken. Redis has to decide some of the buckets, see {@link isExact}.
   */
  readonly outcome: 'passed' | 'denied' | 'unavailable' | 'waits' | 'exact';
  /** For a denial: how long to wait, by the view of this process. Otherwise 0. */
  readonly retryTicks: number;
}

const PASSED: LeaseDecision = { outcome: 'passed', retryTicks: 0 };
const WAITING: LeaseDecision = { outcome: 'waits', retryTicks: 0 };
const EXACTLY: LeaseDecision = { outcome: 'exact', retryTicks: 0 };
/** Redis does not answer, and there is no other way to decide. */
export const UNANSWERED: LeaseDecision = { outcome: 'unavailable', retryTicks: 0 };

/** Decides a batch by what the process knows, and takes its tokens from all buckets or from none. */
export function decide(batch: readonly LeaseTransaction[], nowTicks: number): LeaseDecision {
  const decision = decideAgain(batch, nowTicks);
  // The caller decides the rest of an exact batch again.
  if (decision.outcome === 'exact') return decision;
  for (let i = 0; i < batch.length; i++) {
    const { bucket, tokens, mode } = batch[i]!;
    if (mode !== 'check-only' && !bucket.isLarge(tokens)) bucket.askedTokens += tokens;
  }
  return decision;
}

/** Decides a batch that had to wait: its tokens are not asked for a second time. */
export function decideAgain(batch: readonly LeaseTransaction[], nowTicks: number): LeaseDecision {
  const look = lookAtAll(batch, nowTicks);
  if (look === FITS) {
    for (let i = 0; i < batch.length; i++) {
      const each = batch[i]!;
      each.spent = spendOne(each, nowTicks);
      conclude(each, 0, nowTicks);
    }
    return PASSED;
  }
  if (look === WAITS) return WAITING;
  if (look === EXACT) return EXACTLY;
  if (look === UNAVAILABLE) return UNANSWERED;
  return denied(batch, nowTicks);
}

/** Notes the outcome of a transaction, at the moment at which its batch was decided. */
export function conclude(transaction: LeaseTransaction, waitTicks: number, nowTicks: number): void {
  transaction.waitTicks = waitTicks;
  transaction.levelTicks = transaction.bucket.levelWithoutLeases(nowTicks);
}

/** Whether a transaction of this mode can deny its batch. */
export function canDeny(mode: Mode): boolean {
  return mode === 'check-and-spend' || mode === 'check-only';
}

/** Whether Redis has to decide a transaction of an `exact` batch. */
export function isExact({ bucket, tokens, mode }: LeaseTransaction, nowTicks: number): boolean {
  return mode !== 'charge' && bucket.look(tokens, nowTicks) === EXACT;
}

/** Refunds what a batch took: every bucket of it, once. */
export function refundAll(batch: readonly LeaseTransaction[], nowTicks: number): void {
  for (const { bucket, spent } of batch) if (spent !== undefined) bucket.refund(spent, nowTicks);
}

function lookAtAll(batch: readonly LeaseTransaction[], nowTicks: number): Look {
  let strictest: Look = FITS;
  for (let i = 0; i < batch.length; i++) {
    const { bucket, tokens, mode } = batch[i]!;
    if (mode === 'charge') continue;
    const look = bucket.look(tokens, nowTicks);
    if (look > strictest && (look === EXACT || canDeny(mode))) strictest = look;
  }
  return strictest;
}

function spendOne({ bucket, tokens, mode }: LeaseTransaction, nowTicks: number): Spent | undefined {
  if (mode === 'check-and-spend') return bucket.spend(tokens, nowTicks);
  if (mode === 'check-only') return undefined;
  if (mode === 'charge') return bucket.charge(tokens, nowTicks);
  return bucket.look(tokens, nowTicks) === FITS ? bucket.spend(tokens, nowTicks) : undefined;
}

function denied(batch: readonly LeaseTransaction[], nowTicks: number): LeaseDecision {
  const retryTicks = longestRetry(batch, nowTicks);
  for (const each of batch) conclude(each, waitOf(each, retryTicks, nowTicks), nowTicks);
  return { outcome: 'denied', retryTicks };
}

/** @param longestTicks - The longest wait of the batch, even for a bucket of which the process does not know how long it takes. */
function waitOf({ bucket, tokens, mode }: LeaseTransaction, longestTicks: number, nowTicks: number): number {
  if (!canDeny(mode)) return 0;
  const look = bucket.look(tokens, nowTicks);
  if (look === FITS) return 0;
  return look === DENIES ? bucket.retryTicks : longestTicks;
}

/** The longest wait of the buckets that deny. Each of them is read at its next due sync, because its view may be wrong. */
function longestRetry(batch: readonly LeaseTransaction[], nowTicks: number): number {
  let longest = 0;
  for (const { bucket, tokens, mode } of batch) {
    if (!canDeny(mode) || bucket.look(tokens, nowTicks) !== DENIES) continue;
    bucket.touch(nowTicks);
    longest = Math.max(longest, bucket.retryTicks);
  }
  return longest;
}
