import type { Awaitable } from '../async/awaitable.ts';
import type { BucketState, Decision } from '../decision/decision.ts';
import type { StoreStatus } from '../failure/store-health.ts';
import type { LimitSetOptions } from '../limits/limit-set.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import type { BucketName, Mode, Store } from '../store/store.ts';

/** A bucket to charge or to give tokens back to. */
export interface CostEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** Tokens, a whole number from 0 up. Default: 1. */
  readonly cost?: number | undefined;
  /** Belongs to `spend` and `check`. */
  readonly mode?: never;
}

/** A bucket to make full. */
export interface ResetEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** Belongs to the other calls: the bucket is full afterwards. */
  readonly cost?: never;
  /** Belongs to `spend` and `check`. */
  readonly mode?: never;
}

/** One transaction to decide. */
export interface SpendEntry<Name extends string = string> extends BucketName {
  readonly limit: Name;
  /** Tokens, a whole number from 0 up. Default: 1. */
  readonly cost?: number | undefined;
  /** Default: `check-and-spend`. */
  readonly mode?: Mode | undefined;
}

/** How a limiter ends. */
export interface CloseOptions {
  /**
   * Closes the store too when it was given by you, unless another limiter still uses it. Needed for one that was made
   * inline, `createLimiter({ …, store: redisStore(…) })`: its connection keeps the process alive. Default: false.
   */
  readonly store?: boolean | undefined;
}

/**
 * Decides requests by named limits. Made by {@link createLimiter}; works with HTTP and without.
 *
 * Every call answers at once (a value) on a store that does, such as the memory store, and by a promise otherwise:
 * `await` works on both. Wrong arguments throw at once, whatever the store: `ERR_UNKNOWN_LIMIT`, `ERR_ID`,
 * `ERR_COST`, `ERR_DUPLICATE_BUCKET`, `ERR_UNKNOWN_OPTION` for a field that the call does not take, and `ERR_CLOSED`
 * after `close()`. A store that can't answer is no error but a matter of each limit's failure policy.
 *
 * `Request` is what the keys read their ids from, `Name` the names of the limits: those that `createLimiter` was given,
 * or any text where they are known only at run time. A `Limiter<Request>` takes any name.
 */
export interface Limiter<Request = unknown, Name extends string = string> {
  /**
   * Decides a batch: takes tokens from all its buckets or from none.
   *
   * @throws {SluiceError} `ERR_COST_OVER_BURST` when a cost exceeds the burst: it could never pass.
   */
  spend(entries: readonly SpendEntry<Name>[]): Awaitable<Decision>;
  /** Decides a batch as {@link Limiter.spend} would, and takes nothing. */
  check(entries: readonly SpendEntry<Name>[]): Awaitable<Decision>;
  /** Takes tokens after the fact, whether they fit or not: at most to an empty bucket. Unlimited and blocked ids are left out. */
  charge(entries: readonly CostEntry<Name>[]): Awaitable<readonly BucketState[]>;
  /**
   * Gives tokens back, at most to a full bucket.
   *
   * For a decision of this limiter: what it took, once, less what has come back by itself since; nothing for what was
   * denied or only checked. Tokens count as given back when the store has accepted them: when it can't answer, the call
   * gives `[]` with an event `refund-lost`, and can be tried again. For entries: the operator's form, which gives back
   * the whole cost.
   *
   * @throws {SluiceError} `ERR_FOREIGN_DECISION` for a decision of another limiter.
   */
  refund(what: Decision | readonly CostEntry<Name>[]): Awaitable<readonly BucketState[]>;
  /**
   * Makes buckets full again.
   *
   * @throws {SluiceError} `ERR_STORE_UNAVAILABLE` when the store can't answer.
   */
  reset(entries: readonly ResetEntry<Name>[]): Awaitable<void>;
  /**
   * Swaps limits and overrides, checked as a whole: all following requests see the new ones, none sees half of each.
   * Buckets keep their debt, which is a time. Where a limit was raised, a debt that is longer than an empty bucket's is
   * cut once, when the bucket is asked for next, so that the raise helps at once. When it throws, the old limits and
   * overrides stay in effect. The new set may have other names: `Name` stays as it is.
   *
   * @throws {SluiceError} what {@link createLimiter} throws, and `ERR_UNKNOWN_LIMIT`, `ERR_KEY` or
   * `ERR_COST_OVER_BURST` when a middleware that was made with this limiter could not go on.
   */
  replace(set: LimitSetOptions<Request>): void;
  /**
   * Resolves when the store can answer: at once for the memory store, and for any other that has no `ready`. For
   * scripts, which begin before their store is connected; a server may start without it, since its failure policies
   * decide until the store answers.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` and the cause when the store can't answer after
   * `timeoutMs` (default: 10,000); `ERR_CLOSED` when limiter or store is closed meanwhile; `ERR_OPTION`.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Whether the store answers, and since when. */
  status(): StoreStatus;
  /** The store that decides: for its own statistics, and to share it. */
  readonly store: Store;
  /**
   * Ends the limiter. Charges, refunds and settlements that have begun reach the store first; at most a second is waited
   * for them. Closes a store that the limiter made itself; one that was given by you with `{ store: true }`. Later calls
   * are the error `ERR_CLOSED`, but `close` can be called again.
   *
   * Close the server first, so that requests in flight can still be decided and settled:
   *
   *     server.close(() => limiter.close({ store: true }));
   *
   * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
   */
  close(options?: CloseOptions): Awaitable<void>;
}
