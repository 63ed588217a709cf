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

/** How long a decision took. */
interface Timed {
  /**
   * Milliseconds from the beginning of the decision, when ids and costs were known, to its end. Set only while durations are
   * measured.
   */
  durationMs?: number | undefined;
}

/** A batch that a store or a policy decided. The outcome follows from the reading. */
export interface Answered extends Changed<Transaction>, Timed {
  readonly available: true;
  /** Undefined when the limiter's own store decided. */
  readonly failure: Failure | undefined;
  /** The transactions that the policy `open` let through without a look. */
  readonly open?: readonly Transaction[];
  readonly owner: Owner;
}

/** No store has decided a batch, and nothing was taken. */
export interface Unanswered extends Timed {
  readonly available: false;
  /**
   * The transactions that are to blame, as requested. Never empty. Those whose policy is `closed`, when the store can't
   * answer; otherwise those of blocked ids, or of loads that are too high.
   */
  readonly batch: readonly Transaction[];
  readonly failure: Failure | undefined;
  readonly owner: Owner;
}

/** The gate of the limiter that made a decision: only that limiter gives its tokens back. Compared by identity. */
export type Owner = object;

/** The answer to a batch, and where it came from. */
export type BatchAnswer = Answered | Unanswered;

/** A charge: a transaction without its mode. Its cost may exceed the burst. */
export type Charge = Omit<Transaction, 'mode'>;
