import type { Store, StoreReading } from '../store/store.ts';
import type { Transaction } from './transaction.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';

/** Why the store did not decide, and which policy did. */
export interface Failure {
  /** The strictest policy of the batch: `closed` before `local` before `open`. */
  readonly policy: FailurePolicy;
  /**
   * What the store threw or rejected with, or a SluiceError with code `ERR_STORE_DEADLINE`, `ERR_STORE_ANSWER` or
   * `ERR_STORE_UNAVAILABLE`.
   */
  readonly cause: unknown;
}

/** Buckets and their levels, as a store returned them. */
export interface Changed<T> {
  /**
   * The buckets of `reading`, with the numbers that it was made with. When the store could not answer, this differs
   * from the requested batch: transactions under the `local` policy have local rates, costs and ticks, and those that
   * were not decided or taken are left out.
   */
  readonly batch: readonly T[];
  /** In the order of `batch`. */
  readonly reading: StoreReading;
  /** The store that made the reading, in whose time it is: a refund of the decision must go there. */
  readonly store: Store;
}

/** A charge: a transaction without its mode. Its cost may exceed the burst. */
export type Charge = Omit<Transaction, 'mode'>;
