import type { EventSink } from '../events/event.ts';
import type { Time } from '../time/time.ts';
import type { Transaction } from '../decision/transaction.ts';
import { memoryStore, type MemoryStore } from '../store/memory/memory-store.ts';
import { localPressureEvent } from '../store/memory/pressure.ts';
import { EMPTY_READING, type Store, type StoreBucket, type StoreReading, type StoreOperation } from '../store/store.ts';
import { readingsOf } from '../store/alternatives.ts';
import { LocalRates } from './local-rate.ts';
import type { Changed, Charge, Failure } from '../decision/batch-answer.ts';
import type { DecisionMaker } from '../decision/decide.ts';
import type { Decided } from '../decision/decided.ts';
import type { StoreCalls } from '../store/store-calls.ts';

/**
 * The largest number of buckets of a store for the `local` policy, which take 2 to 4 MB. Above it, a bucket of the limit with the
 * most buckets is evicted.
 */
const MAX_LOCAL_KEYS = 100_000;

/** Batches of which the first that passes is wanted. At least one. */
export type Alternatives = readonly (readonly Transaction[])[];

/** The parts of a fallback. */
export interface FallbackParts {
  /** The store that can't answer. */
  readonly guarded: Store;
  readonly gateways: number;
  readonly emit: EventSink;
  /** The gate on whose behalf it decides. */
  readonly owner: object;
  /** They renew the periods of batches, which are those of the store's clock, for the clock of this process. */
  readonly calls: StoreCalls;
  /** Returns the store to ask instead, of one with tokens. Default: that one. */
  readonly localStore: ((tokens: Store) => Store) | undefined;
  readonly makes: DecisionMaker;
}

/**
 * Decides by the limits' failure policies while the store can't.
 *
 * Its buckets are kept after an outage, so that a store that fails repeatedly does not grant a whole local burst each
 * time. When the store works again, they are not used, and expire.
 */
export class Fallback {
  readonly #guarded: Store;
  readonly #rates: LocalRates;
  readonly #owner: object;
  readonly #emit: EventSink;
  readonly #calls: StoreCalls;
  readonly #makes: DecisionMaker;
  readonly #localStore: (tokens: Store) => Store;
  /** Created when the first `local` limit needs it. */
  #tokens: MemoryStore | undefined;

  constructor({ guarded, gateways, emit, owner, calls, localStore, makes }: FallbackParts) {
    this.#localStore = localStore ?? ((tokens) => tokens);
    this.#calls = calls;
    this.#makes = makes;
    this.#guarded = guarded;
    this.#rates = new LocalRates(gateways);
    this.#emit = emit;
    this.#owner = owner;
  }

  /**
   * Decides alternatives in order until one passes. If any limit of any of them is `closed`, all are unavailable.
   * Otherwise the `local` limits of each decide together, and `open` ones are left out. One of which only `open` limits
   * are left passes.
   *
   * @returns The decisions on the alternatives that were tried.
   */
  decide(kind: 'spend' | 'check', alternatives: Alternatives, cause: unknown): readonly Decided[] {
    const owner = this.#owner;
    const closed = alternatives.flat().filter(({ treatment }) => treatment.onFailure === 'closed');
    if (closed.length > 0) return [this.#makes.unavailable(closed, owner, cause)];
    const local = alternatives.map((batch) => localOf(batch).map((each) => this.#rates.localized(each)));
    const isOpen = local[0]!.length === 0;
    const store = isOpen ? this.#guarded : this.#local();
    const reading = isOpen ? EMPTY_READING : this.#ask(store, { kind, alternatives: local });
    return readingsOf(local, reading).map((each, i) => {
      const batch = local[i]!;
      const failure: Failure = { policy: batch.length === 0 ? 'open' : 'local', cause };
      const open = alternatives[i]!.filter(({ treatment }) => treatment.onFailure === 'open');
      return new this.#makes.Decided(batch, { owner, takes: kind === 'spend', store, failure, open }, each);
    });
  }

  /** Takes the charges of `local` limits, and leaves out the others. */
  charge<T extends Charge>(batch: readonly T[]): Changed<T> {
    const local = localOf(batch).map((charge) => this.#rates.localizedCharge(charge));
    if (local.length === 0) return { batch: local, reading: EMPTY_READING, store: this.#guarded };
    const store = this.#local();
    return { batch: local, reading: this.#ask(store, { kind: 'charge', batch: local }), store };
  }

  /** Fills local buckets. */
  reset(batch: readonly StoreBucket[]): void {
    if (this.#tokens !== undefined) void this.#localStore(this.#tokens).run({ kind: 'reset', batch });
  }

  /** The local store answers at once. */
  #ask(store: Store, operation: StoreOperation): StoreReading {
    return this.#calls.runOther(store, operation) as StoreReading;
  }

  #local(): Store {
    return this.#localStore((this.#tokens ??= this.#madeLocal()));
  }

  #madeLocal(): MemoryStore {
    const store = localBucketsOf(this.#guarded, this.#calls.time);
    store.watch((pressure) => this.#emit(localPressureEvent(pressure)));
    return store;
  }
}

const localBuckets = new WeakMap<Store, WeakMap<Time, MemoryStore>>();

/**
 * Returns the local buckets of a store: all limiters on it have the same, so that equal limits of two limiters share their
 * buckets in an outage, too.
 */
function localBucketsOf(guarded: Store, time: Time): MemoryStore {
  const byTime = localBuckets.get(guarded) ?? new WeakMap<Time, MemoryStore>();
  localBuckets.set(guarded, byTime);
  const store = byTime.get(time) ?? memoryStore({ maxKeys: MAX_LOCAL_KEYS, time });
  byTime.set(time, store);
  return store;
}

function localOf<T extends Charge>(batch: readonly T[]): readonly T[] {
  return batch.filter(({ treatment }) => treatment.onFailure === 'local');
}
