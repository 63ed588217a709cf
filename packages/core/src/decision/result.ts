import type { Mode } from '../store/store.ts';

/**
 * The state of a bucket after a call, with the numbers that apply to its id. During an outage under the policy `local`,
 * these are the bucket and the numbers of this process.
 */
export interface BucketState {
  readonly limit: string;
  readonly id: string;
  /**
   * Whole tokens left that are available without a delay, from 0 to `burst`. For a transaction with a share, those
   * within its share.
   */
  readonly remaining: number;
  /**
   * Milliseconds until the bucket is full if no further request comes, rounded up to 0.001; 0 when it is full. For a
   * used quota, until the end of the period.
   */
  readonly resetAfterMs: number;
  /** The burst that applies to the id; 0 when blocked. */
  readonly burst: number;
  /** How many tokens refill every `periodMs`; 0 when blocked. */
  readonly count: number;
  /** The period in milliseconds; for a quota, the length of the current calendar period. */
  readonly periodMs: number;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
}

/** The result of one transaction of a batch. */
export interface Result extends BucketState {
  /** The kind of the limit: `rate`, `quota`, `concurrency` or `load`. */
  readonly kind: string;
  /** Tokens that the transaction asked for. */
  readonly cost: number;
  /** Tokens that were taken: `cost` or 0; for a `charge`, the whole tokens up to an empty bucket and `maxDebt`. */
  readonly spent: number;
  /** The mode of the transaction. */
  readonly mode: Mode;
  /**
   * Whether this transaction lets the batch pass. Always true for `spend-only` and `charge`, unless the id is blocked.
   */
  readonly allowed: boolean;
  /**
   * Whether an override blocks the id. Then `spent`, `remaining`, `burst` and `count` are 0, and `retryAfterMs` and
   * `resetAfterMs` are `Infinity`.
   */
  readonly blocked: boolean;
  /**
   * Whether the tokens were borrowed from the pool of the limit. The other properties describe the limit's own bucket,
   * because a borrowed token does not mean that there will be another. Always false for a limit that does not borrow.
   */
  readonly borrowed: boolean;
  /** Whether the limit is `hidden`: header fields and problem details do not mention it. */
  readonly hidden: boolean;
  /**
   * Milliseconds until the same cost fits if no other request comes and no tokens are given back meanwhile, rounded up to
   * 0.001. It is exact: one microsecond
   * earlier (of a quota one millisecond) the cost is denied, and after this time it fits; at a limit with `maxWait`, it then has to wait. 0 when
   * allowed, `Infinity` when blocked. For a limit that borrows it is the shorter of the two waits, for its own tokens
   * and for those of the pool; with `fair`, the cost may fit earlier.
   */
  readonly retryAfterMs: number;
  /**
   * Tokens of the bucket that requests in progress in this process have taken and may give back, so that the same cost may
   * fit before `retryAfterMs`: those with a `settle` in a middleware or in `Limiter.run`. As of when the results are first
   * read. Undefined if there are none, and if the transaction did not deny.
   */
  readonly pending?: number;
}
