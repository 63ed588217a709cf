import type { StoreReading, StoreTransaction } from '@sluice/core/store';
import { mergeReadings } from '../batches/split-batch.ts';
import type { BucketLookup } from './bucket-lookup.ts';
import { clockOf, levelOf, serverTicks, type LeasedEntry } from './leased-levels.ts';

/** A batch, divided into what the process decides and what Redis decides. */
export interface SplitBatch {
  /** At least one. */
  readonly leased: readonly LeasedEntry[];
  readonly exact: readonly StoreTransaction[];
  /** For each transaction of the batch, whether it is leased. Empty if all are. */
  readonly isLeased: readonly boolean[];
}

const NONE: readonly never[] = [];

/**
 * Divides a batch.
 *
 * @param isUsable - Whether the process can decide a transaction. Default: any whose bucket is leased.
 * @returns Undefined if nothing is leased.
 */
export function splitBatch(
  batch: readonly StoreTransaction[],
  lookup: BucketLookup,
  nowTicks: number,
  isUsable?: (entry: LeasedEntry) => boolean,
): SplitBatch | undefined {
  // oxlint-disable-next-line unicorn/no-new-array -- preallocated, because push grows an array step by step
  const leased = new Array<LeasedEntry>(batch.length);
  for (let i = 0; i < batch.length; i++) {
    const entry = lookup.entryOf(batch[i]!, nowTicks);
    if (entry === undefined || isUsable?.(entry) === false) return splitMixed(batch, lookup, nowTicks, isUsable);
    leased[i] = entry;
  }
  return batch.length === 0 ? undefined : { leased, exact: NONE, isLeased: NONE };
}

function splitMixed(
  batch: readonly StoreTransaction[],
  lookup: BucketLookup,
  nowTicks: number,
  isUsable: (entry: LeasedEntry) => boolean = () => true,
): SplitBatch | undefined {
  const entries = batch.map((transaction) => {
    const entry = lookup.entryOf(transaction, nowTicks);
    return entry !== undefined && isUsable(entry) ? entry : undefined;
  });
  const leased = entries.filter((entry) => entry !== undefined);
  if (leased.length === 0) return undefined;
  const exact = batch.filter((_, i) => entries[i] === undefined);
  return { leased, exact, isLeased: entries.map((entry) => entry !== undefined) };
}

/**
 * The reading of a decision in the process. It does not show that Redis answers.
 *
 * @param nowTicks - When it was decided.
 */
export function readingOf(leased: readonly LeasedEntry[], hasPassed: boolean, nowTicks: number): StoreReading {
  if (leased.length > 1) return readingOfSeveral(leased, hasPassed, nowTicks);
  const entry = leased[0]!;
  const levelTicks = levelOf(entry, hasPassed);
  const passed = hasPassed ? 0 : -1;
  return { passed, nowTicks: clockOf(entry, levelTicks, nowTicks), levelsTicks: [levelTicks], remembered: true };
}

function readingOfSeveral(leased: readonly LeasedEntry[], hasPassed: boolean, now: number): StoreReading {
  const levelsTicks = leased.map((entry) => levelOf(entry, hasPassed));
  const bucketNowTicks = leased.map((entry, i) => clockOf(entry, levelsTicks[i]!, now));
  const nowTicks = serverTicks(leased[0]!.bucket, now);
  return { passed: hasPassed ? 0 : -1, nowTicks, levelsTicks, bucketNowTicks, remembered: true };
}

/** Joins the readings of both parts, in the order of the batch. */
export function joinReadings(
  { isLeased }: Pick<SplitBatch, 'isLeased'>,
  leased: StoreReading,
  exact: StoreReading,
): StoreReading {
  const places = (wanted: boolean) => ({ indexes: isLeased.flatMap((each, i) => (each === wanted ? [i] : [])) });
  return mergeReadings([places(false), places(true)], [exact, leased]);
}
