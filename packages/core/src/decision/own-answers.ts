import { nowTicksAt, type StoreReading } from '../store/store.ts';
import { Decided } from './decided.ts';
import type { Transaction } from './transaction.ts';

/** A transaction that the process decided without a store, and its level before. */
export interface OwnAnswer {
  readonly transaction: Transaction;
  readonly level: number;
}

/**
 * Combines what a store and the process itself have answered to one batch.
 *
 * @param batch - The whole batch, as it was asked.
 * @param own - The answers of the process, by the index in the batch.
 * @param others - The decision of the store or of a failure policy on the other transactions. It may lack some of them, and it
 * may end with internal ones.
 */
export function withOwnAnswers(
  batch: readonly Transaction[],
  own: ReadonlyMap<number, OwnAnswer>,
  others: Decided,
): Decided {
  const places: (OwnAnswer | number)[] = [];
  let next = 0;
  for (const [i, transaction] of batch.entries()) {
    const answered = own.get(i);
    if (answered !== undefined) places.push(answered);
    else if (isSameBucket(others.batch[next], transaction)) places.push(next++);
  }
  while (next < others.batch.length) places.push(next++);
  const all = places.map((place) => (typeof place === 'number' ? others.batch[place]! : place.transaction));
  return new Decided(all, others.origin, readingAt(places, others));
}

function isSameBucket(one: Transaction | undefined, other: Transaction): boolean {
  return one?.limit === other.limit && one.id === other.id;
}

function readingAt(places: readonly (OwnAnswer | number)[], reading: StoreReading): StoreReading {
  const { passed, nowTicks, levelsTicks, bucketWallMs } = reading;
  const isOwn = (place: OwnAnswer | number): place is OwnAnswer => typeof place !== 'number';
  return {
    // The store was asked because all that the process itself decides passes.
    passed,
    nowTicks,
    levelsTicks: places.map((place) => (isOwn(place) ? place.level : levelsTicks[place]!)),
    bucketNowTicks: places.map((place) => (isOwn(place) ? nowTicks : nowTicksAt(reading, place))),
    ...(bucketWallMs && { bucketWallMs: places.map((place) => (isOwn(place) ? undefined : bucketWallMs[place])) }),
  };
}
