import { andThen, type Awaitable } from '../async/awaitable.ts';
import { readingsOf } from '../store/alternatives.ts';
import type {
  Store,
  StoreBucket,
  StoreCap,
  StoreCharge,
  StoreHold,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '../store/store.ts';

type StoreBatch = readonly StoreTransaction[];
type Run = Pick<Store, 'run'>;
/** A value for a store that returns values, and a promise for one that returns promises. */
type ReadingOf<Calls extends Run> = ReturnType<Calls['run']>;
type Readings<Calls extends Run> =
  ReadingOf<Calls> extends StoreReading
    ? readonly StoreReading[]
    : ReadingOf<Calls> extends Promise<unknown>
      ? Promise<readonly StoreReading[]>
      : Awaitable<readonly StoreReading[]>;

/** The operations of a store as methods, for tests. Made by {@link callsOf}. */
export class StoreCalls<Calls extends Run> {
  readonly #store: Calls;

  constructor(store: Calls) {
    this.#store = store;
  }

  /** Takes one batch, if it passes. */
  spend(batch: StoreBatch, deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'spend', alternatives: [batch] }, deadlineMs);
  }

  /** Returns a reading for each batch that was tried. */
  spendFirst(alternatives: readonly StoreBatch[], deadlineMs?: number): Readings<Calls> {
    const whole = this.#run({ kind: 'spend', alternatives }, deadlineMs) as Awaitable<StoreReading>;
    return andThen(whole, (reading) => readingsOf(alternatives, reading)) as Readings<Calls>;
  }

  /** Reads the levels of one batch. */
  check(batch: StoreBatch, deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'check', alternatives: [batch] }, deadlineMs);
  }

  /** Takes tokens whether they fit or not. */
  charge(batch: readonly StoreCharge[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'charge', batch }, deadlineMs);
  }

  /** Gives tokens back. */
  refund(batch: readonly StoreRefund[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'refund', batch }, deadlineMs);
  }

  /** Cuts levels. */
  cap(batch: readonly StoreCap[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'cap', batch }, deadlineMs);
  }

  /** Renews slots. */
  renew(batch: readonly StoreHold[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'renew', batch }, deadlineMs);
  }

  /** Releases slots. */
  release(batch: readonly StoreHold[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'release', batch }, deadlineMs);
  }

  /** Deletes buckets. */
  reset(batch: readonly StoreBucket[], deadlineMs?: number): ReadingOf<Calls> {
    return this.#run({ kind: 'reset', batch }, deadlineMs);
  }

  #run(...operation: Parameters<Store['run']>): ReadingOf<Calls> {
    return this.#store.run(...operation) as ReadingOf<Calls>;
  }
}

/**
 * Returns the operations of a store as methods.
 *
 * @example
 * const { levelsTicks } = await callsOf(store).check([transaction]);
 */
export function callsOf<Calls extends Run>(store: Calls): StoreCalls<Calls> {
  return new StoreCalls(store);
}
