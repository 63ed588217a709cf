import type { StoreReading, StoreTransaction } from '@sluice/core';
import { countTried, partOf, passes } from '@sluice/core/kit';
import type { BatchRequestParts } from './batch-request.ts';

type Batch = readonly StoreTransaction[];

/** Joins batches to one request, of which the script executes the first that passes. */
export function joinAlternatives(alternatives: readonly BatchRequestParts[]): BatchRequestParts {
  const { kind, deadlineMs } = alternatives[0]!;
  const batch = alternatives.flatMap((alternative) => alternative.batch);
  const keys = alternatives.flatMap((alternative) => alternative.keys);
  return { kind, batch, keys, deadlineMs, alternatives };
}

/** Leaves out of the reading of a joined request the alternatives that were not tried. */
export function triedOf(alternatives: readonly BatchRequestParts[], whole: StoreReading): StoreReading {
  const { levelsTicks } = whole;
  const count = countTried(
    alternatives.map(({ batch }) => batch as Batch),
    levelsTicks,
  );
  return count === levelsTicks.length ? whole : partOf(whole, [...Array(count).keys()]);
}

/** Whether a `spend` passed, by the levels before it. */
export function isGranted({ batch }: Pick<BatchRequestParts, 'batch'>, { levelsTicks }: StoreReading): boolean {
  return passes(batch as Batch, levelsTicks);
}
