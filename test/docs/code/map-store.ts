import { SluiceError, type Store, type Time } from '@sluice/core';
import {
  bucketKey,
  levelAfter,
  levelAfterRefund,
  passes,
  TICKS_PER_MICRO,
  type BucketName,
  type StoreCharge,
  type StoreOperation,
  type StoreReading,
  type StoreTransaction,
} from '@sluice/core/store';

interface Bucket {
  readonly tatTicks: number;
  /** The level when the bucket was written. */
  readonly levelTicks: number;
}

/** Keeps buckets in a Map, in ticks of 1/16 µs. It never forgets one whose TAT has passed. */
export class MapStore implements Store {
  readonly traits = { answersAtOnce: true } as const;
  readonly #buckets = new Map<string, Bucket>();
  readonly #time: Time;
  #closed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  run(operation: StoreOperation): StoreReading {
    switch (operation.kind) {
      case 'spend':
      case 'check':
        return this.#decide(operation.alternatives, operation.kind === 'spend');
      case 'charge':
        return this.#change(operation.batch, charged);
      case 'refund':
        return this.#change(operation.batch, levelAfterRefund);
      case 'cap':
        return this.#change(operation.batch, ({ capTicks }, level) => Math.min(level, capTicks));
      case 'reset':
        return this.#reset(operation.batch);
      default:
        throw new Error('A store without the trait `slots` is never asked to renew or release any.');
    }
  }

  close(): void {
    this.#closed = true;
  }

  #decide(alternatives: readonly (readonly StoreTransaction[])[], takes: boolean): StoreReading {
    const nowTicks = this.#now();
    const levelsTicks: number[] = [];
    for (const [passed, batch] of alternatives.entries()) {
      // The levels before anything was taken.
      const levels = this.#read(batch, nowTicks).levelsTicks;
      levelsTicks.push(...levels);
      if (!passes(batch, levels)) continue;
      for (const [i, transaction] of batch.entries()) {
        if (takes) this.#set(transaction, nowTicks, levelAfter(transaction, levels[i]!));
      }
      return { passed, nowTicks, levelsTicks };
    }
    return { passed: -1, nowTicks, levelsTicks };
  }

  #reset(batch: readonly BucketName[]): StoreReading {
    const nowTicks = this.#now();
    for (const { limit, id } of batch) this.#buckets.delete(bucketKey(limit, id));
    return { nowTicks, levelsTicks: [] };
  }

  #read(batch: readonly BucketName[], nowTicks = this.#now()): StoreReading {
    const levelsTicks = batch.map((entry) => {
      const bucket = this.#buckets.get(bucketKey(entry.limit, entry.id));
      if (bucket === undefined) return 0;
      const level = Math.max(0, bucket.tatTicks - nowTicks);
      if (level <= bucket.levelTicks) return level;
      // Between two writes a level only falls: the clock has gone back, and the first look mends the bucket.
      this.#set(entry, nowTicks, bucket.levelTicks);
      return bucket.levelTicks;
    });
    return { nowTicks, levelsTicks };
  }

  #change<T extends BucketName>(
    batch: readonly T[],
    changed: (entry: T, level: number, nowTicks: number) => number,
  ): StoreReading {
    const { nowTicks, levelsTicks } = this.#read(batch);
    const after = batch.map((entry, i) => changed(entry, levelsTicks[i]!, nowTicks));
    for (const [i, entry] of batch.entries()) this.#set(entry, nowTicks, after[i]!);
    return { nowTicks, levelsTicks: after };
  }

  #set({ limit, id }: BucketName, nowTicks: number, levelTicks: number): void {
    this.#buckets.set(bucketKey(limit, id), { tatTicks: nowTicks + levelTicks, levelTicks });
  }

  #now(): number {
    if (this.#closed) throw new SluiceError('ERR_CLOSED', 'The store is closed.');
    return this.#time.nowMicros() * TICKS_PER_MICRO;
  }
}

/** A debt that other numbers left above the cap stays. */
function charged({ incrementTicks, capTicks }: StoreCharge, level: number): number {
  return Math.max(level, Math.min(level + incrementTicks, capTicks));
}
