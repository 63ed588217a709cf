import {
  bucketKey,
  SluiceError,
  type BucketName,
  type Clock,
  type Store,
  type StoreCharge,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
} from '@sluice/core';

const TICKS_PER_MICRO = 16;

/** Keeps the TAT of each bucket in a Map, in ticks of 1/16 µs. It never forgets one that has passed. */
export class MapStore implements Store {
  readonly #tats = new Map<string, number>();
  readonly #clock: Clock;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  spend(batch: readonly StoreTransaction[]): StoreReading {
    const { nowTicks, levelsTicks } = this.#read(batch);
    const lifted = batch.map(({ incrementTicks }, i) => levelsTicks[i]! + incrementTicks);
    const fits = batch.map(({ toleranceTicks }, i) => lifted[i]! <= toleranceTicks);
    if (batch.every(({ mode }, i) => mode === 'spend-only' || fits[i])) {
      for (const [i, transaction] of batch.entries()) {
        if (transaction.mode !== 'check-only' && fits[i]) this.#set(transaction, nowTicks + lifted[i]!);
      }
    }
    // The levels before anything was taken: what was decided follows from them.
    return { nowTicks, levelsTicks };
  }

  check(batch: readonly StoreTransaction[]): StoreReading {
    return this.#read(batch);
  }

  charge(batch: readonly StoreCharge[]): StoreReading {
    return this.#change(batch, (level, { incrementTicks, toleranceTicks }) =>
      Math.min(level + incrementTicks, toleranceTicks),
    );
  }

  refund(batch: readonly StoreRefund[]): StoreReading {
    return this.#change(batch, (level, { incrementTicks, tatAfterSpendTicks = Infinity }, nowTicks) =>
      Math.max(0, level - Math.min(incrementTicks, Math.max(0, tatAfterSpendTicks - nowTicks))),
    );
  }

  reset(batch: readonly BucketName[]): void {
    this.#now();
    for (const { limit, id } of batch) this.#tats.delete(bucketKey(limit, id));
  }

  close(): void {
    this.#closed = true;
  }

  #read(batch: readonly StoreCharge[]): StoreReading {
    const nowTicks = this.#now();
    const levelsTicks = batch.map((entry) => {
      const level = (this.#tats.get(bucketKey(entry.limit, entry.id)) ?? nowTicks) - nowTicks;
      if (level <= entry.toleranceTicks) return Math.max(0, level);
      // Too far ahead: the limit was raised, or the clock went back. Whoever meets it first repairs it for good.
      this.#set(entry, nowTicks + entry.toleranceTicks);
      return entry.toleranceTicks;
    });
    return { nowTicks, levelsTicks };
  }

  #change<T extends StoreCharge>(
    batch: readonly T[],
    levelAfter: (level: number, entry: T, nowTicks: number) => number,
  ): StoreReading {
    const { nowTicks, levelsTicks } = this.#read(batch);
    const after = batch.map((entry, i) => levelAfter(levelsTicks[i]!, entry, nowTicks));
    for (const [i, entry] of batch.entries()) this.#set(entry, nowTicks + after[i]!);
    return { nowTicks, levelsTicks: after };
  }

  #set({ limit, id }: BucketName, tatTicks: number): void {
    this.#tats.set(bucketKey(limit, id), tatTicks);
  }

  #now(): number {
    if (this.#closed) throw new SluiceError('ERR_CLOSED', 'The store is closed.');
    return this.#clock.nowMicros() * TICKS_PER_MICRO;
  }
}
