import type { StoreReading, StoreTransaction } from '@sluice/core';
import { passes, readUntilPassed } from '@sluice/core/kit';
import type { BatchRequestParts } from './batch-request.ts';

/** Joins batches to one request, of which the script executes the first that passes. */
export function joinAlternatives(alternatives: readonly BatchRequestParts[]): BatchRequestParts {
  const { kind, deadlineMs } = alternatives[0]!;
  const batch = alternatives.flatMap((alternative) => alternative.batch);
  const keys = alternatives.flatMap((alternative) => alternative.keys);
  return { kind, batch, keys, deadlineMs, alternatives };
}

/** Splits the reading of a joined request into those of the alternatives that were tried. */
export function splitReading(alternatives: readonly BatchRequestParts[], whole: StoreReading): readonly StoreReading[] {
  let start = 0;
  return readUntilPassed(
    alternatives.map(({ batch }) => batch as readonly StoreTransaction[]),
    (batch) => partOf(whole, start, (start += batch.length)),
  );
}

function partOf(whole: StoreReading, start: number, end: number): StoreReading {
  const { nowTicks, levelsTicks, bucketNowTicks, bucketWallMs } = whole;
  const reading = { nowTicks, levelsTicks: levelsTicks.slice(start, end) };
  // One server has clocks of its own only for buckets with a period.
  if (bucketNowTicks === undefined || bucketWallMs === undefined) return reading;
  return {
    ...reading,
    bucketNowTicks: bucketNowTicks.slice(start, end),
    bucketWallMs: bucketWallMs.slice(start, end),
  };
}

/** Whether a `spend` passed, by the levels before it. */
export function isGranted({ batch }: Pick<BatchRequestParts, 'batch'>, { levelsTicks }: StoreReading): boolean {
  return passes(batch as readonly StoreTransaction[], levelsTicks);
}
