import { nowTicksAt, type StoreReading, type StoreTransaction } from './store.ts';
import { passes } from './transaction-rule.ts';

/** The batches of an operation that decides. */
type Alternatives = readonly (readonly StoreTransaction[])[];

/** Reads alternatives in order, up to and including the first that passes. */
export function readUntilPassed<Batch extends readonly StoreTransaction[]>(
  alternatives: readonly Batch[],
  read: (batch: Batch) => StoreReading,
): readonly StoreReading[] {
  const readings: StoreReading[] = [];
  for (const batch of alternatives) {
    const reading = read(batch);
    readings.push(reading);
    if (passes(batch, reading.levelsTicks)) break;
  }
  return readings;
}

/** Returns the readings of the alternatives that were tried. Only the last one can have passed. */
export function readingsOf(alternatives: Alternatives, whole: StoreReading): readonly StoreReading[] {
  if (alternatives.length === 1) return [whole];
  let next = 0;
  return readUntilPassed(alternatives, (batch) =>
    partOf(
      whole,
      batch.map(() => next++),
    ),
  );
}

/** Returns a part of a reading: the buckets with these indexes. */
export function partOf(whole: StoreReading, indexes: readonly number[]): StoreReading {
  const { nowTicks, levelsTicks, bucketNowTicks: clocks, bucketWallMs: walls, remembered } = whole;
  return {
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
    nowTicks: last.nowTicks,
    levelsTicks: readings.flatMap(({ levelsTicks }) => levelsTicks),
    bucketNowTicks: readings.flatMap((one) => one.levelsTicks.map((_, i) => nowTicksAt(one, i))),
    bucketWallMs: readings.flatMap((one) => one.levelsTicks.map((_, i) => one.bucketWallMs?.[i])),
    ...(readings.every(({ remembered }) => remembered) && { remembered: true }),
  };
}

/** Leaves the alternatives that were not tried out of a reading of all. */
export function triedOf(alternatives: Alternatives, whole: StoreReading): StoreReading {
  const count = countTried(alternatives, whole.levelsTicks);
  return count === whole.levelsTicks.length ? whole : partOf(whole, [...Array(count).keys()]);
}

/** Returns how many levels the reading of alternatives has: those of the alternatives up to the first that passes. */
export function countTried(alternatives: Alternatives, levelsTicks: readonly number[]): number {
  let count = 0;
  for (const batch of alternatives) {
    const start = count;
    count += batch.length;
    if (passes(batch, levelsTicks, start)) break;
  }
  return count;
}
