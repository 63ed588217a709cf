import type { ReadingToFill } from './store.ts';

/** Returns a reading to be filled, of a batch with as many transactions. */
export function emptyReading(size: number): ReadingToFill {
  // A preallocated array: see docs/hot-path.md.
  // oxlint-disable-next-line unicorn/no-new-array
  return { nowTicks: 0, levelsTicks: new Array<number>(size), bucketNowTicks: undefined, bucketWallMs: undefined };
}
