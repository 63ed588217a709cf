import type { Awaitable } from '../async/awaitable.ts';
import { SluiceError } from '../checks/errors.ts';
import type { Changed, Charge, Origin } from '../decision/batch-answer.ts';
import type { Decided } from '../decision/decided.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import type { Store, StoreOperation, StoreRefund, StoreReport } from '../store/store.ts';
import type { Alternatives } from './fallback.ts';
import type { StoreStatus } from './store-health.ts';

/** An operation of which a limiter wants to know only whether it was executed. */
export type Command = Extract<StoreOperation, { readonly kind: 'cap' | 'reset' | 'renew' | 'release' }>;

/** The path from a limiter to its store. Every call except `status` and `close` throws `ERR_CLOSED` after `close`. */
export interface StoreGate {
  /** Decides a batch, and takes its tokens if the call is `spend`. */
  decide(call: 'spend' | 'check', batch: readonly Transaction[]): Awaitable<Decided>;
  /**
   * Decides batches in order until one passes, in one call of the store, and takes the tokens of that one if the call is
   * `spend`.
   *
   * @returns The decisions of the batches that were tried: all but the last are denied.
   */
  decideFirst(call: 'spend' | 'check', alternatives: Alternatives): Awaitable<readonly Decided[]>;
  /** Takes tokens after the fact. */
  charge<T extends Charge>(batch: readonly T[]): Awaitable<Changed<T>>;
  /**
   * Gives tokens back.
   *
   * @param store - The store that took them: that of the decision.
   */
  refund<T extends Charge & StoreRefund>(store: Store, batch: readonly T[]): Awaitable<Changed<T>>;
  /** Reads the levels of buckets. Rejects with `ERR_STORE_UNAVAILABLE` when the store can't answer. */
  read(batch: readonly Transaction[]): Awaitable<Changed<Transaction>>;
  /**
   * Executes an operation without an answer. When the store can't, `cap` rejects with its error, and `reset` with
   * `ERR_STORE_UNAVAILABLE`; slots are then renewed by a later `renew`, and are free when they expire.
   */
  run(operation: Command): Awaitable<void>;
  /**
   * Settles like an answer of this gate, or resolves with `late()` when a caller waits for a shorter time than the gate takes
   * at most.
   *
   * @param leftMs - How long the caller waits, in milliseconds.
   */
  within<T>(answer: Promise<T>, leftMs: number, late: () => T): Promise<T>;
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

/** The origins of decisions by each call of a gate. */
export type Origins = Readonly<Record<'spend' | 'check', Origin>>;

/** @param owner - The gate. */
export function originsOf(owner: object, store: Store): Origins {
  const origin = { owner, store, failure: undefined };
  return { spend: { ...origin, takes: true }, check: { ...origin, takes: false } };
}

/** Creates the error for calls after `close`. */
export function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'The limiter is closed. Make a new one with createLimiter().');
}
