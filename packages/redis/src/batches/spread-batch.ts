import type { StoreReading } from '@sluice/core';
import type { AskEntry, AskParts } from './batch-request.ts';
import { slotOf } from '../client/slot.ts';

/** The part of a batch that belongs to one slot. */
export interface Part extends AskParts {
  readonly slot: number;
  /** The index of each bucket in the whole batch. */
  readonly places: readonly number[];
}

/** Splits a batch by slot, in the order of the first bucket of each slot. */
export function partsOf({ batch, keys, ...rest }: AskParts): readonly Part[] {
  const parts = new Map<number, { batch: AskEntry[]; keys: string[]; places: number[] }>();
  for (const [place, key] of keys.entries()) {
    const slot = slotOf(key);
    const part = parts.get(slot) ?? { batch: [], keys: [], places: [] };
    part.batch.push(batch[place]!);
    part.keys.push(key);
    part.places.push(place);
    parts.set(slot, part);
  }
  return Array.from(parts, ([slot, part]) => ({ ...rest, slot, ...part }));
}

/** Splits a batch into batches of at most `mostBuckets` buckets. */
export function piecesOf({ batch, keys, ...rest }: AskParts, mostBuckets: number): readonly AskParts[] {
  const pieces: AskParts[] = [];
  for (let i = 0; i < keys.length; i += mostBuckets) {
    pieces.push({ ...rest, batch: batch.slice(i, i + mostBuckets), keys: keys.slice(i, i + mostBuckets) });
  }
  return pieces;
}

/** Combines the readings of all parts. Each bucket keeps the time of its own server. */
export function wholeReading(parts: readonly Part[], readings: readonly StoreReading[]): StoreReading {
  const size = parts.reduce((sum, { places }) => sum + places.length, 0);
  const levelsTicks = Array<number>(size).fill(0);
  const bucketNowTicks = Array<number>(size).fill(0);
  for (const [i, { places }] of parts.entries()) {
    const { nowTicks, levelsTicks: levels } = readings[i]!;
    for (const [j, place] of places.entries()) {
      levelsTicks[place] = levels[j]!;
      bucketNowTicks[place] = nowTicks;
    }
  }
  return { nowTicks: bucketNowTicks[0]!, levelsTicks, bucketNowTicks };
}
