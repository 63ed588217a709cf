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

/** Where a decision comes from. The gate to a store has one for all that the store decides by one call. */
export interface Origin {
  /** The gate of the limiter that decided: only that limiter gives the tokens back. Compared by identity. */
  readonly owner: object;
  /** True for `spend`, false for `check`, which takes nothing. */
  readonly takes: boolean;
  /**
   * The store that made the reading, in whose time it is: a refund must go there. Undefined when no store has decided, and
   * nothing was taken.
   */
  readonly store: Store | undefined;
  /** Undefined when the limiter's own store decided. */
  readonly failure: Failure | undefined;
  /** Why the batch was denied although its limits might have let it pass; otherwise undefined. */
  readonly reason?: 'deadline';
  /** The transactions that the policy `open` let through without a look. */
  readonly open?: readonly Transaction[];
}

/** What a store or a policy made of a batch: its verdict, and the levels for its figures. */
export interface Judged extends StoreReading {
  readonly batch: readonly Transaction[];
  readonly origin: Origin;
}

/** A charge: a transaction without its mode. Its cost may exceed the burst. */
export type Charge = Omit<Transaction, 'mode'>;
