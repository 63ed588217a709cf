import type { Awaitable } from '../async/awaitable.ts';
import type { ReadyOptions } from './ready-options.ts';

/**
 * How a transaction takes part in its batch.
 *
 * - `check-and-spend`: denies the batch when its cost does not fit, takes it otherwise.
 * - `check-only`: denies the batch when its cost does not fit, takes nothing.
 * - `spend-only`: never denies; takes its cost whole if it fits, else nothing.
 */
export type Mode = 'check-and-spend' | 'check-only' | 'spend-only';

/** Names one bucket: a limit and what it limits. Both together are the bucket's identity. */
export interface BucketName {
  /** The limit's name: `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters. */
  readonly limit: string;
  /** The id, canonical: any well-formed text. Stores that need one string use {@link bucketKey}. */
  readonly id: string;
}

/** What a store must know to decide one transaction. All ticks are whole numbers of 1/16 µs. */
export interface StoreTransaction extends BucketName {
  /** cost × T, from 0 to `toleranceTicks`. */
  readonly incrementTicks: number;
  /** burst × T: the time that an empty bucket takes to fill, at most ten years. */
  readonly toleranceTicks: number;
  readonly mode: Mode;
}

/** Tokens to take after the fact, whether they fit or not. */
export type StoreCharge = Omit<StoreTransaction, 'mode'>;

/** A bucket whose debt is cut to what an empty bucket of these numbers owes. */
export type StoreCap = Omit<StoreCharge, 'incrementTicks'>;

/** Tokens to give back. */
export interface StoreRefund extends BucketName {
  /** cost × T, from 0 up. */
  readonly incrementTicks: number;
  /**
   * For the refund of a decision: the bucket's TAT right after it, in the store's time. No more is given back than
   * of it still lies ahead. Left out in the operator's form, which gives back the whole increment.
   */
  readonly tatAfterSpendTicks?: number | undefined;
}

/** The buckets of a batch as the store saw them at one reading of its clock. */
export interface StoreReading {
  /** The store's clock in ticks since the store's own origin. */
  readonly nowTicks: number;
  /**
   * max(0, TAT − now) of every bucket, in the order of the batch. More than its `toleranceTicks` when the bucket was
   * used with other numbers, whose tolerance is larger.
   */
  readonly levelsTicks: readonly number[];
  /**
   * The clock that each level was read on, in the order of the batch: for stores whose buckets live on several servers,
   * each with a clock of its own. Left out when `nowTicks` is the clock of all.
   */
  readonly bucketNowTicks?: readonly number[];
  /**
   * True when the store answered from what it had seen before, without asking its servers: such an answer decides like
   * any other, but says nothing about the store's health. Left out when the servers answered.
   */
  readonly remembered?: true;
}

/** A store that keeps a bounded number of buckets is nearly full, or has evicted buckets in debt. */
export interface StorePressure {
  /** Buckets held. */
  readonly size: number;
  /** The most that the store holds. */
  readonly maxKeys: number;
  /** Buckets evicted in debt since the last report. 0: the store is nearly full. */
  readonly evicted: number;
  /** The limit with the most buckets, and how many it has. */
  readonly largest: { readonly limit: string; readonly size: number };
}

/** The clock that the level of one bucket was read on, in ticks; its TAT is that and its level. */
export function nowTicksAt({ nowTicks, bucketNowTicks }: StoreReading, place: number): number {
  return bucketNowTicks?.[place] ?? nowTicks;
}

/**
 * Where buckets live. Every call is atomic and reads the store's own clock once; no batch holds a bucket twice. (A store
 * whose buckets live on several servers reads each server's clock once, see {@link StoreReading}; that it never takes
 * more than a bucket has holds there too.)
 * A store answers at once (a value) or later (a promise), and always in the same way.
 *
 * The rule that each call follows is in gcra.ts; the suite in `@sluice/core/testing` is what a store must pass.
 * A TAT that has passed is the same as no bucket. A level above a transaction's `toleranceTicks` stays as it is: other
 * numbers were used on the bucket. Only `cap` cuts it. A store whose clock can step back remembers the level that it wrote,
 * and cuts a higher one to it: between two writes a level only falls, so the clock was wrong.
 *
 * A store that can't answer rejects. {@link SluiceError} with code `ERR_STORE_BUCKET` says that only one bucket is
 * broken; any other rejection counts as an outage of the whole store.
 */
export interface Store {
  /**
   * True of a store that answers every call at once (a value, never a promise) and can't fail: a limiter then asks it
   * without deadline and failure policy. Left out by all others.
   */
  readonly answersAtOnce?: true;
  /**
   * Resolves when the store can answer; at once when it can. Rejects with `ERR_STORE_UNAVAILABLE`, and the cause in its
   * message, when it can't after `timeoutMs`; with `ERR_CLOSED` when it is closed before that. Left out by stores that
   * have nothing to wait for.
   */
  ready?(options?: ReadyOptions): Awaitable<void>;
  /**
   * Takes the increments of all transactions, or of none: if a `check-…` does not fit, nothing is taken. In a batch
   * that passes, a `spend-only` is taken if it fits.
   *
   * @param deadlineMs - How long the caller waits. A store that can tell must not take tokens after that.
   * @returns The levels before anything was taken: what was decided follows from them.
   */
  spend(batch: readonly StoreTransaction[], deadlineMs?: number): Awaitable<StoreReading>;
  /** Reads the levels and takes nothing, whatever the modes say. */
  check(batch: readonly StoreTransaction[], deadlineMs?: number): Awaitable<StoreReading>;
  /** Takes tokens whether they fit or not, at most to an empty bucket. Gives the levels after. */
  charge(batch: readonly StoreCharge[], deadlineMs?: number): Awaitable<StoreReading>;
  /** Gives tokens back, at most to a full bucket. Gives the levels after. */
  refund(batch: readonly StoreRefund[], deadlineMs?: number): Awaitable<StoreReading>;
  /**
   * Cuts the levels of buckets to at most their `toleranceTicks`, after their limits were raised. Gives the levels after.
   * Optional: without it a raised limit takes effect as the debt of the old numbers passes.
   */
  cap?(batch: readonly StoreCap[], deadlineMs?: number): Awaitable<StoreReading>;
  /** Forgets buckets: they are full again. */
  reset(batch: readonly BucketName[], deadlineMs?: number): Awaitable<void>;
  /**
   * Calls the listener when the store is nearly full and when it has evicted buckets in debt, not more than every few
   * minutes. A limiter makes a warning of it. Left out by stores that are not bounded.
   *
   * @returns A function that ends it.
   */
  onPressure?(listener: (pressure: StorePressure) => void): () => void;
  /** Lets go of what the store holds open; again, it does nothing. Every other call is then the error `ERR_CLOSED`. */
  close(): Awaitable<void>;
}
