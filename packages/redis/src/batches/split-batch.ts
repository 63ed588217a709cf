import type { ServerEntry } from '@sluice/core/kit';
import { nowTicksAt, type StoreReading } from '@sluice/core/store';
import { slotOf } from '../client/slot.ts';
import type { BatchRequestParts } from './batch-request.ts';

/** The part of a batch that belongs to one slot. */
export interface BatchPart extends BatchRequestParts {
  readonly slot: number;
  /** The index of each bucket in the whole batch. */
  readonly indexes: readonly number[];
}

/** Splits a batch by slot, in the order of the first bucket of each slot. */
export function splitBySlot({ batch, keys, ...rest }: BatchRequestParts): readonly BatchPart[] {
  const parts = new Map<number, { batch: ServerEntry[]; keys: string[]; indexes: number[] }>();
  for (const [index, key] of keys.entries()) {
    const slot = slotOf(key);
    const part = parts.get(slot) ?? { batch: [], keys: [], indexes: [] };
    part.batch.push(batch[index]!);
    part.keys.push(key);
    part.indexes.push(index);
    parts.set(slot, part);
  }
  return Array.from(parts, ([slot, part]) => ({ ...rest, slot, ...part }));
}

/** Splits a batch into batches of at most `maxBuckets` buckets. */
export function splitBySize(
  { batch, keys, ...rest }: BatchRequestParts,
  maxBuckets: number,
): readonly BatchRequestParts[] {
  const pieces: BatchRequestParts[] = [];
  for (let i = 0; i < keys.length; i += maxBuckets) {
    pieces.push({ ...rest, batch: batch.slice(i, i + maxBuckets), keys: keys.slice(i, i + maxBuckets) });
  }
  return pieces;
}

/** Combines the readings of all parts of a batch, which passes if all of them do. Each bucket keeps the time of its own server. */
export function mergeReadings(
  parts: readonly Pick<BatchPart, 'indexes'>[],
  readings: readonly StoreReading[],
): StoreReading {
  const size = parts.reduce((sum, { indexes }) => sum + indexes.length, 0);
  const levelsTicks = Array<number>(size).fill(0);
  const bucketNowTicks = Array<number>(size).fill(0);
  const bucketWallMs = Array<number | undefined>(size).fill(undefined);
  for (const [i, { indexes }] of parts.entries()) {
    const reading = readings[i]!;
    for (const [j, index] of indexes.entries()) {
      levelsTicks[index] = reading.levelsTicks[j]!;
      bucketNowTicks[index] = nowTicksAt(reading, j);
      bucketWallMs[index] = reading.bucketWallMs?.[j];
    }
  }
  const denied = readings.findIndex(({ passed }) => passed !== 0);
  const { passed } = readings[Math.max(0, denied)]!;
  const merged = { passed, nowTicks: readings[0]!.nowTicks, levelsTicks, bucketNowTicks };
  return readings.some((reading) => reading.bucketWallMs !== undefined) ? { ...merged, bucketWallMs } : merged;
}
