import type { Awaitable } from '../async/awaitable.ts';
import type { Decision } from '../decision/decision.ts';
import type { BucketName, Store, StoreCap, StoreRefund, StoreReport } from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { Changed, Charge } from '../decision/batch-answer.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import type { Alternatives } from './alternatives.ts';
import type { StoreStatus } from './store-health.ts';

/** The path from a limiter to its store. Every call except `status` and `close` throws `ERR_CLOSED` after `close`. */
export interface StoreGate {
  /** Decides a batch and takes its tokens. */
  spend(batch: readonly Transaction[]): Awaitable<Decision>;
  /** Decides a batch and takes nothing. */
  check(batch: readonly Transaction[]): Awaitable<Decision>;
  /**
   * Decides batches in order until one passes, in one call of the store, and takes the tokens of that one if the call is
   * `spend`.
   *
   * @returns The decisions of the batches that were tried: all but the last are denied.
   */
  decideFirst(call: 'spend' | 'check', alternatives: Alternatives): Awaitable<readonly Decision[]>;
  /** Takes tokens after the fact. */
  charge<T extends Charge>(batch: readonly T[]): Awaitable<Changed<T>>;
  /**
   * Gives tokens back.
   *
   * @param store - The store that took them: that of the decision.
   */
  refund<T extends StoreRefund>(store: Store, batch: readonly T[]): Awaitable<Changed<T>>;
  /** Cuts debts to those of empty buckets. A store without `cap` leaves them unchanged. */
  cap(batch: readonly StoreCap[]): Awaitable<unknown>;
  /** Fills buckets. */
  reset(batch: readonly BucketName[]): Awaitable<void>;
  /** Resolves when the store can answer. */
  ready(options?: ReadyOptions): Promise<void>;
  /** Takes note of a report of the store about itself. It never throws. */
  noteReport(report: StoreReport): void;
  /** Reports the state of the store. */
  status(): StoreStatus;
  /** Throws `ERR_CLOSED` after {@link close}. */
  assertOpen(): void;
  /** Closes the gate, not the store. Repeated calls do nothing. */
  close(): void;
}
