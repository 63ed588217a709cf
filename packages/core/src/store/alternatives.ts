import { nowTicksAt, type StoreReading, type StoreTransaction } from './store.ts';
import { passes } from './transaction-rule.ts';

/** The batches of an operation that decides. */
type Alternatives = readonly (readonly StoreTransaction[])[];

/** Decides alternatives in order, up to and including the first that passes. */
export function readUntilPassed<Batch extends readonly StoreTransaction[]>(
  alternatives: readonly Batch[],
  read: (batch: Batch) => StoreReading,
): readonly StoreReading[] {
  const readings: StoreReading[] = [];
  for (const batch of alternatives) {
    const reading = read(batch);
    readings.push(reading);
    if (reading.passed === 0) break;
  }
  return readings;
}

/** Returns the alternatives that were tried, if one passed or none (−1). */
export function triedOf<Batch>(alternatives: readonly Batch[], passed: number): readonly Batch[] {
  return passed < 0 ? alternatives : alternatives.slice(0, passed + 1);
}

/** Returns the readings of the alternatives that were tried. Only the last one can have passed. */
export function readingsOf(alternatives: Alternatives, whole: StoreReading): readonly StoreReading[] {
  if (alternatives.length === 1) return [whole];
  const passed = whole.passed!;
  let next = 0;
  return triedOf(alternatives, passed).map((batch, i) => {
    const indexes = batch.map(() => next++);
    return partOf(whole, indexes, i === passed ? 0 : -1);
  });
}

/** Returns a part of a reading: the buckets with these indexes. */
export function partOf(
  whole: StoreReading,
  indexes: readonly number[],
  passed: number | undefined = whole.passed,
): StoreReading {
  const { nowTicks, levelsTicks, bucketNowTicks: clocks, bucketWallMs: walls, remembered } = whole;
  return {
    passed,
    nowTicks,
    levelsTicks: indexes.map((i) => levelsTicks[i]!),
    ...(remembered && { remembered }),
    ...(clocks && { bucketNowTicks: indexes.map((i) => clocks[i]!) }),
    ...(walls && { bucketWallMs: indexes.map((i) => walls[i]) }),
  };
}

/** Joins the readings of alternatives that were tried one after another to one reading. At least one. */
export function joinedReading(readings: readonly StoreReading[]): StoreReading {
  const last = readings.at(-1)!;
  if (readings.length === 1) return last;
  return {
    passed: last.passed === 0 ? readings.length - 1 : -1,
    nowTicks: last.nowTicks,
    levelsTicks: readings.flatMap(({ levelsTicks }) => levelsTicks),
    bucketNowTicks: readings.flatMap((one) => one.levelsTicks.map((_, i) => nowTicksAt(one, i))),
    bucketWallMs: readings.flatMap((one) => one.levelsTicks.map((_, i) => one.bucketWallMs?.[i])),
    ...(readings.every(({ remembered }) => remembered) && { remembered: true }),
  };
}

/**
 * Decides alternatives by the levels of all of them, for a store that reads all at once: adds to the reading which one passes,
 * and leaves out the alternatives after it.
 */
export function decidedReading(alternatives: Alternatives, whole: StoreReading): StoreReading {
  if (alternatives.length === 1) return decidedAlone(alternatives[0]!, whole);
  let count = 0;
  const passed = alternatives.findIndex((batch) => {
    const start = count;
    count += batch.length;
    return passes(batch, whole.levelsTicks, start);
  });
  return count === whole.levelsTicks.length ? { ...whole, passed } : partOf(whole, [...Array(count).keys()], passed);
}

// Most operations on servers. A spread would take longer than everything else here.
function decidedAlone(batch: readonly StoreTransaction[], whole: StoreReading): StoreReading {
  const { nowTicks, levelsTicks, bucketNowTicks, bucketWallMs } = whole;
  return { passed: passes(batch, levelsTicks) ? 0 : -1, nowTicks, levelsTicks, bucketNowTicks, bucketWallMs };
}
