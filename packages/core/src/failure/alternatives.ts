import { andThen, toNativePromise, type Awaitable } from '../async/awaitable.ts';
import type { Transaction } from '../decision/transaction.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { Store, StoreReading } from '../store/store.ts';
import { readUntilPassed } from '../store/transaction-rule.ts';
import { checkReading, checkReadings } from './reading.ts';

/** Batches of which the first that passes is wanted. At least one. */
export type Alternatives = readonly (readonly Transaction[])[];

/** The readings of the alternatives that were tried, in the form of one reading. */
export interface FirstReading extends StoreReading {
  readonly readings: readonly StoreReading[];
}

/**
 * Finds out which alternative passes: `spend` takes it, `check` takes nothing.
 *
 * @param store - For `spend` it has the method `spendFirst`.
 * @throws {SluiceError} `ERR_STORE_ANSWER` for an invalid answer of the store.
 */
export function readFirst(
  call: 'spend' | 'check',
  store: Store,
  alternatives: Alternatives,
  deadlineMs?: number,
): Awaitable<FirstReading> {
  return call === 'spend' ? spendFirst(store, alternatives, deadlineMs) : checkFirst(store, alternatives, deadlineMs);
}

function spendFirst(store: Store, alternatives: Alternatives, deadlineMs?: number): Awaitable<FirstReading> {
  return andThen(toNativePromise(store.spendFirst!(alternatives, deadlineMs)), (readings) => {
    checkReadings(alternatives, readings);
    return { ...readings[0]!, readings };
  });
}

// One call for all alternatives, so that they are looked at together, as `spendFirst` does. So a stale period rejects the
// call even if an alternative before it passes.
function checkFirst(store: Store, alternatives: Alternatives, deadlineMs?: number): Awaitable<FirstReading> {
  const buckets = new Map(alternatives.flat().map((transaction) => [mapKeyOf(transaction), transaction]));
  const batch = [...buckets.values()];
  const places = new Map(Array.from(buckets.keys(), (bucket, i) => [bucket, i]));
  return andThen(toNativePromise(store.check(batch, deadlineMs)), (all) => {
    checkReading(batch, all);
    const readings = readUntilPassed(alternatives, (alternative) => {
      return partOf(
        all,
        alternative.map((transaction) => places.get(mapKeyOf(transaction))!),
      );
    });
    return { ...all, readings };
  });
}

/** Returns a part of a reading: the buckets with these indexes. */
export function partOf(
  { bucketNowTicks: clocks, bucketWallMs: walls, ...all }: StoreReading,
  indexes: readonly number[],
): StoreReading {
  return {
    ...all,
    levelsTicks: indexes.map((i) => all.levelsTicks[i]!),
    ...(clocks && { bucketNowTicks: indexes.map((i) => clocks[i]!) }),
    ...(walls && { bucketWallMs: indexes.map((i) => walls[i]) }),
  };
}
