import type { MemoryStats } from '../store/memory/memory-stats.ts';
import type { MemoryStore } from '../store/memory/memory-store.ts';
import type { Store, StoreBucket, StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '../store/store.ts';
import { passes, readUntilPassed } from '../store/transaction-rule.ts';

/** Returns the slots of a bucket that this process holds, without those of the transaction itself. */
export type SlotLevel = (transaction: StoreTransaction) => number;

type Batch = readonly StoreTransaction[];

/**
 * The store of the policy `local`: tokens are in a memory store, and slots are those that this process holds, also since
 * before the outage.
 */
export class LocalStore implements Store {
  readonly #tokens: MemoryStore;
  readonly #slotLevel: SlotLevel;

  constructor(tokens: MemoryStore, slotLevel: SlotLevel) {
    this.#tokens = tokens;
    this.#slotLevel = slotLevel;
  }

  spend(batch: Batch): StoreReading {
    if (!batch.some(hasSlots)) return this.#tokens.spend(batch);
    const slots = batch.filter(hasSlots);
    const fit = passes(
      slots,
      slots.map((one) => this.#slotLevel(one)),
    );
    return this.#withSlots(batch, fit ? 'spend' : 'check');
  }

  spendFirst(alternatives: readonly Batch[]): readonly StoreReading[] {
    if (!alternatives.some((batch) => batch.some(hasSlots))) return this.#tokens.spendFirst(alternatives);
    return readUntilPassed(alternatives, (batch) => this.spend(batch));
  }

  check(batch: Batch): StoreReading {
    return batch.some(hasSlots) ? this.#withSlots(batch, 'check') : this.#tokens.check(batch);
  }

  charge(batch: readonly StoreCharge[]): StoreReading {
    return this.#tokens.charge(batch);
  }

  refund(batch: readonly StoreRefund[]): StoreReading {
    return this.#tokens.refund(batch);
  }

  reset(batch: readonly StoreBucket[]): void {
    this.#tokens.reset(batch.filter(hasTokens));
  }

  /** Returns the statistics of the tokens. */
  stats(): MemoryStats {
    return this.#tokens.stats();
  }

  close(): void {
    this.#tokens.close();
  }

  /** @param call - What to do with the tokens. */
  #withSlots(batch: Batch, call: 'spend' | 'check'): StoreReading {
    const { nowTicks, levelsTicks, bucketNowTicks, bucketWallMs } = this.#tokens[call](batch.filter(hasTokens));
    const places = placesOfTokens(batch);
    return {
      nowTicks,
      levelsTicks: batch.map((one, i) => (hasSlots(one) ? this.#slotLevel(one) : levelsTicks[places[i]!]!)),
      ...(bucketNowTicks && { bucketNowTicks: places.map((place) => bucketNowTicks[place] ?? nowTicks) }),
      ...(bucketWallMs && { bucketWallMs: places.map((place) => bucketWallMs[place]) }),
    };
  }
}

function hasSlots({ slots }: StoreBucket): boolean {
  return slots === true;
}

function hasTokens(bucket: StoreBucket): boolean {
  return !hasSlots(bucket);
}

/** Returns the place of each transaction among those of tokens; −1 for slots. */
function placesOfTokens(batch: Batch): readonly number[] {
  let next = 0;
  return batch.map((one) => (hasSlots(one) ? -1 : next++));
}
