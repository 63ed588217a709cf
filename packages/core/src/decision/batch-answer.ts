import type { Store, StoreReading } from '../store/store.ts';
import type { Transaction } from './transaction.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';

/** Why the store did not decide, and which policy did. */
export interface Failure {
  /** The strictest policy that was used: `closed` before `local` before `open`. */
  readonly policy: FailurePolicy;
  /** What the store threw or rejected with, or a SluiceError `ERR_STORE_DEADLINE` or `ERR_STORE_ANSWER`. */
  readonly cause: unknown;
}

/** Buckets as a store saw or left them. */
export interface Changed<T> {
  /**
   * The buckets that `reading` is about, with the numbers that it was made by. When the store could not answer this
   * is another batch than was asked for: what went by the `local` policy carries its local rate, cost and ticks, and
   * what nobody decided or took is left out.
   */
  readonly batch: readonly T[];
  /** In the order of `batch`. */
  readonly reading: StoreReading;
  /** Whose time the reading is in: the refund of a decision must go there. */
  readonly store: Store;
}

/** A batch that was decided: what of it passes follows from the reading. */
export interface Decided extends Changed<Transaction> {
  readonly available: true;
  /** Left undefined when the limiter's own store decided. */
  readonly failure: Failure | undefined;
  readonly owner: Owner;
}

/** Nobody decided: the store can't answer, and a limit of the batch is `closed` then. Nothing was taken. */
export interface Unavailable {
  readonly available: false;
  /** The transactions whose policy is `closed`, as they were asked for. Never empty. */
  readonly batch: readonly Transaction[];
  readonly failure: Failure;
  readonly owner: Owner;
}

/** An id of the batch is blocked: no store was asked, and nothing was taken. */
export interface Blocked {
  readonly available: false;
  /** The transactions whose id is blocked. Never empty. */
  readonly batch: readonly Transaction[];
  readonly failure: undefined;
  readonly owner: Owner;
}

/** The gate of the limiter that made a decision: that limiter alone gives its tokens back. Compared by identity. */
type Owner = object;

/** What came of a batch, and from whom. */
export type Ruling = Decided | Unavailable | Blocked;

/** What a charge must carry so that any store can take it: a transaction does, and its cost may exceed the burst. */
export type Charge = Omit<Transaction, 'mode'>;
