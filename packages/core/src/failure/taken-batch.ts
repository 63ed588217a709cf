import type { Answered, Owner } from '../decision/batch-answer.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { ReadingToFill, Store, StoreReading } from '../store/store.ts';

/**
 * The answer of a store with `take` to one batch, and its reading: one object for both, because most decisions need no
 * other. See docs/hot-path.md.
 */
export class TakenBatch implements Answered, ReadingToFill {
  readonly available = true;
  readonly batch: readonly Transaction[];
  readonly store: Store;
  readonly failure = undefined;
  readonly owner: Owner;
  readonly reading: StoreReading;
  passed: number = -1;
  nowTicks: number = NaN;
  readonly levelsTicks: number[];
  bucketNowTicks: readonly number[] | undefined = undefined;
  bucketWallMs: readonly (number | undefined)[] | undefined = undefined;

  constructor(batch: readonly Transaction[], store: Store, owner: Owner) {
    this.batch = batch;
    this.store = store;
    this.owner = owner;
    this.reading = this;
    // Of one bucket, as a literal: it is allocated where it is written, and from the beginning for numbers of any size.
    // oxlint-disable-next-line unicorn/no-new-array
    this.levelsTicks = batch.length === 1 ? [NaN] : new Array<number>(batch.length).fill(NaN);
  }
}
