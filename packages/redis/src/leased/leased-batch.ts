import type { StoreReading, StoreTransaction } from '@sluice/core';
import { nowTicksAt } from '@sluice/core/kit';
import type { LeaseDecision } from '../leases/decide.ts';
import type { LeasedBucket } from '../leases/leased-bucket.ts';
import { levelOf, serverTicks, type LeasedEntry } from './leased-levels.ts';

/** A batch, divided into what the process decides and what Redis decides. */
export interface SplitBatch {
  readonly leased: readonly LeasedEntry[];
  readonly exact: readonly StoreTransaction[];
  /** For each transaction of the batch, whether it is leased. */
  readonly isLeased: readonly boolean[];
}

/**
 * Divides a batch.
 *
 * @param bucketOf - Returns the bucket of a transaction that is leased.
 * @returns Undefined if nothing is leased.
 */
export function splitBatch(
  batch: readonly StoreTransaction[],
  bucketOf: (transaction: StoreTransaction) => LeasedBucket | undefined,
): SplitBatch | undefined {
  const leased: LeasedEntry[] = [];
  const exact: StoreTransaction[] = [];
  const isLeased: boolean[] = [];
  for (const transaction of batch) {
    const bucket = bucketOf(transaction);
    isLeased.push(bucket !== undefined);
    if (bucket === undefined) exact.push(transaction);
    else leased.push(entryOf(bucket, transaction));
  }
  return leased.length === 0 ? undefined : { leased, exact, isLeased };
}

/** The levels of a decision in the process. It is no sign that Redis answers. */
export function readingOf(leased: readonly LeasedEntry[], decision: LeaseDecision, nowTicks: number): StoreReading {
  const levelsTicks: number[] = [];
  const bucketNowTicks: number[] = [];
  for (let i = 0; i < leased.length; i++) {
    const level = levelOf(leased[i]!, decision, i, nowTicks);
    levelsTicks.push(level.levelTicks);
    bucketNowTicks.push(level.nowTicks);
  }
  return { nowTicks: serverTicks(leased[0]!.bucket, nowTicks), levelsTicks, bucketNowTicks, remembered: true };
}

/** Joins the readings of both parts, in the order of the batch. */
export function joinReadings(
  { isLeased }: Pick<SplitBatch, 'isLeased'>,
  leased: StoreReading,
  exact: StoreReading,
): StoreReading {
  const levelsTicks: number[] = [];
  const bucketNowTicks: number[] = [];
  const bucketWallMs: (number | undefined)[] = [];
  let [leasedIndex, exactIndex] = [0, 0];
  for (const each of isLeased) {
    const from = each ? leased : exact;
    const index = each ? leasedIndex++ : exactIndex++;
    levelsTicks.push(from.levelsTicks[index]!);
    bucketNowTicks.push(nowTicksAt(from, index));
    bucketWallMs.push(from.bucketWallMs?.[index]);
  }
  const reading = { nowTicks: exact.nowTicks, levelsTicks, bucketNowTicks };
  return exact.bucketWallMs === undefined ? reading : { ...reading, bucketWallMs };
}

function entryOf(bucket: LeasedBucket, transaction: StoreTransaction): LeasedEntry {
  const tokens = transaction.incrementTicks / bucket.terms.intervalTicks;
  return { bucket, tokens, mode: transaction.mode, transaction };
}
