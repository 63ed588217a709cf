// The room store: the contract of every store.
import type { Awaitable } from '../async/awaitable.ts';
import type { CalendarPeriod } from './calendar-period.ts';
import type { LeaseDescription, OvershootNumbers, StoreRate, StoreTreatment } from './lease-description.ts';
import type { ReadyOptions } from './ready-options.ts';

/**
 * How a transaction takes part in its batch.
 *
 * - `check-and-spend`: denies the batch when its cost does not fit. If the batch passes, its cost is taken.
 * - `check-only`: denies the batch when its cost does not fit. Takes nothing.
 * - `spend-only`: never denies. If the batch passes, its cost is taken when it fits, and otherwise nothing.
 * - `charge`: never denies. If the batch passes, its cost is taken whether it fits or not, at most up to an empty
 *   bucket with the `maxDebt` of its limit.
 */
export type Mode = (typeof MODES)[number];

/** All modes, the default first. */
export const MODES = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;

/** Identifies a bucket by the name of its limit and an id. */
export interface BucketName {
  /** The limit's name: `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters. */
  readonly limit: string;
  /** The canonical id, any well-formed text. A store that needs a single string uses `bucketKey`. */
  readonly id: string;
}

/** A bucket in a store: one for each limit, id and calendar. */
export interface StoreBucket extends BucketName {
  /**
   * The calendar of a bucket with a period, as text of `[A-Za-z0-9:/_+-]`. It is a part of the bucket's name: another
   * calendar is another bucket. Undefined for a bucket without a period, which is another bucket too.
   */
  readonly calendar?: string | undefined;
  /**
   * True for a bucket of slots, which are held and released: see {@link SlotHolding}. Such a bucket never is the same as one of
   * tokens, even if it has the same limit and id.
   */
  readonly slots?: true | undefined;
}

/**
 * How a transaction holds slots of a bucket, instead of taking tokens. The level of such a bucket is the number of slots
 * that are held, and an increment is a number of slots. Nothing falls with time: slots are free again when their holder
 * releases them, or when they expire.
 */
export interface SlotHolding {
  /** Identifies the slots of this transaction: 1 to 64 characters of `[A-Za-z0-9_-]`, different for each transaction. */
  readonly holder: string;
  /**
   * The slots are free again this long after they were taken or renewed for the last time, by the store's clock. A whole
   * number of milliseconds from 1000 to 3,600,000. Slots of one bucket may differ in it.
   */
  readonly expiryMs: number;
}

/** Slots of one holder in one bucket: those from `first` to `first + count - 1`. */
export interface StoreHold extends StoreBucket {
  readonly slots: true;
  /** As in a {@link SlotHolding}. */
  readonly holder: string;
  /** As in a {@link SlotHolding}. */
  readonly expiryMs: number;
  /** The number of the first slot. A transaction takes those from 1 up. */
  readonly first: number;
  /** How many slots, at least 1. */
  readonly count: number;
}

/** One transaction as a store receives it. Ticks are whole numbers of 1/16 µs. */
export interface StoreTransaction extends StoreBucket {
  /** The cost increment: cost × T, from 0 to `capTicks`. */
  readonly incrementTicks: number;
  /**
   * The increment fits if the level after it is at most this, at most ten years: τ = burst × T, and with `maxWait` the
   * longest delay more.
   */
  readonly fitTicks: number;
  /**
   * A `charge` raises the level to at most this: an empty bucket and the `maxDebt` or the `maxWait` of its limit, or an
   * empty pool and the assured bursts of the clients that borrow from it. At most ten years. Transactions of a bucket
   * may differ in it.
   */
  readonly capTicks: number;
  /**
   * For a limit with `maxWait`: the level of an empty bucket, τ, above which requests wait in the queue. A store needs
   * it only to refund what it took, see {@link StoreRefund}.
   */
  readonly lineTicks?: number | undefined;
  readonly mode: Mode;
  /**
   * The calendar period at whose end the level falls to 0. Undefined if the level falls with time. Only stores with the
   * trait `periods` get it.
   */
  readonly period?: CalendarPeriod | undefined;
  /**
   * For a bucket of slots, how they are held. Its `incrementTicks`, `fitTicks` and `capTicks` are numbers of slots, and its
   * mode is not `charge`. Only stores with the trait `slots` get it.
   */
  readonly holding?: SlotHolding | undefined;
  /** How the limit is treated. Only stores with the trait `leases` need it. */
  readonly treatment?: StoreTreatment | undefined;
  /** The numbers of the bucket. Only stores with the trait `leases` need them. */
  readonly rate?: StoreRate | undefined;
}

/** One bucket of a charge: tokens to take after the fact, whether they fit or not. */
export type StoreCharge = Omit<StoreTransaction, 'fitTicks' | 'lineTicks' | 'mode' | 'holding'>;

/** A bucket whose level is to be cut to `capTicks`. */
export type StoreCap = Omit<StoreCharge, 'incrementTicks'>;

/** One bucket of a refund. */
export interface StoreRefund extends StoreBucket {
  /** cost × T, at least 0. */
  readonly incrementTicks: number;
  /**
   * For the refund of a decision: the bucket's TAT right after the decision, in the store's time. At most the part of
   * it that still lies ahead is given back. Undefined for a refund of named buckets, which gives back the whole
   * increment.
   */
  readonly tatAfterSpendTicks?: number | undefined;
  /**
   * For the refund of a decision at a limit with `maxWait`: that of its transaction. If the level, or
   * `tatAfterSpendTicks` − now, is above it, the increment is given back only if the TAT of the bucket is still
   * `tatAfterSpendTicks`. Otherwise requests that came later are waiting, and the next request must not get a turn
   * before theirs; or the bucket was reset since, and the tokens of that turn are already back. Without
   * `tatAfterSpendTicks` it has no effect.
   */
  readonly lineTicks?: number | undefined;
  /** As in a {@link StoreTransaction}. In a later period, nothing of a decision is given back. */
  readonly period?: CalendarPeriod | undefined;
}

/**
 * One operation on buckets, see {@link Store.run}.
 *
 * - `spend`: tries batches in order, and takes the first that passes. The reading says which one, and has the levels before
 *   anything was taken.
 * - `check`: finds out which of them would pass, and takes nothing. The reading is as for `spend`.
 * - `charge`: takes tokens whether they fit or not, up to `capTicks`. The levels are those after the charge.
 * - `refund`: gives tokens back; fills a bucket at most. The levels are those after the refund.
 * - `cap`: cuts levels to at most their `capTicks`, after their limits were raised. The levels are those after the cut. A
 *   limiter caps each bucket once for each raise. After each cut, processes that still use the old numbers may allow
 *   the old burst once more.
 * - `renew`: renews slots, which then expire `expiryMs` from now. Slots that the store does not have any more,
 *   because they have expired or its data was lost, are held again, even if more are held then than the limit
 *   allows: they are in use. Only for stores with the trait `slots`.
 * - `release`: releases slots, and does nothing for those that the store does not have. Only for stores with the trait
 *   `slots`.
 * - `reset`: deletes buckets, so that they are full, and all their slots are free.
 */
export type StoreOperation =
  | {
      readonly kind: 'spend' | 'check';
      /**
       * 1 to 4 batches, usually one; several have at most 8 transactions each. A batch passes if all its `check-and-spend`
       * and `check-only` fit; one without transactions passes. Of the batch that passes, each `check-and-spend` is taken,
       * each `charge`, and each `spend-only` that fits. A batch that is denied takes nothing, and those after the one that
       * passes are not tried. A bucket may occur in several batches, but not twice in one.
       *
       * A store whose buckets are on several servers may try the batches one after another, each atomically.
       */
      readonly alternatives: readonly (readonly StoreTransaction[])[];
    }
  | { readonly kind: 'charge'; readonly batch: readonly StoreCharge[] }
  | { readonly kind: 'refund'; readonly batch: readonly StoreRefund[] }
  | { readonly kind: 'cap'; readonly batch: readonly StoreCap[] }
  | { readonly kind: 'renew' | 'release'; readonly batch: readonly StoreHold[] }
  | { readonly kind: 'reset'; readonly batch: readonly StoreBucket[] };

/** An operation that decides batches. */
export type DecidingOperation = Extract<StoreOperation, { readonly alternatives: unknown }>;

/**
 * What a store decided, and the levels of an operation's buckets at one reading of its clock.
 *
 * The buckets are those of the batch, in its order. Of alternatives, they are those of the batches that were tried, one
 * after the other: all up to the first that passes. The reading of `renew`, `release` and `reset` has no meaning.
 */
export interface StoreReading {
  /**
   * For a `spend` or a `check`: the index of the batch that passed, or −1 if all were denied. This is the decision. The levels
   * are for its figures, and need not show the same: a store may decide by more than them.
   */
  readonly passed?: number | undefined;
  /** The store's clock in ticks since the store's own origin. */
  readonly nowTicks: number;
  /**
   * The level max(0, TAT − now) of each bucket. It exceeds `capTicks` when the bucket was last used with other numbers,
   * whose tolerance is larger.
   */
  readonly levelsTicks: readonly number[];
  /** The levels before a `charge` or a `refund`. Only metrics need them. */
  readonly beforeTicks?: readonly number[] | undefined;
  /**
   * The clock reading for each level: for stores whose buckets are on several servers, each with its own clock, and for
   * buckets with a period, where it is the number that represents the end of the current period. Undefined when
   * `nowTicks` applies to all.
   */
  readonly bucketNowTicks?: readonly number[] | undefined;
  /**
   * The store's wall clock in milliseconds of Unix time, by which it chose the period of each bucket; undefined for a
   * bucket without a period. May be omitted when no bucket has a period.
   */
  readonly bucketWallMs?: readonly (number | undefined)[] | undefined;
  /**
   * True when the store answered from a cache, without asking its servers. Such an answer decides like any other, but
   * does not count as a sign that the store is up. Undefined when the servers answered.
   */
  readonly remembered?: true;
}

/** A reading that a caller gives to {@link Store.take}, which fills it. */
export interface ReadingToFill extends StoreReading {
  passed: number | undefined;
  nowTicks: number;
  /** As many numbers as the batch has transactions. */
  readonly levelsTicks: number[];
  bucketNowTicks: readonly number[] | undefined;
  bucketWallMs: readonly (number | undefined)[] | undefined;
}

/** The reading of a batch without buckets, which passes, and of an operation whose reading has no meaning. */
export const EMPTY_READING: StoreReading = { passed: 0, nowTicks: 0, levelsTicks: [] };

/** Returns a reading to be filled, of a batch with as many transactions. */
export function emptyReading(size: number): ReadingToFill {
  // Preallocated, because push grows an array step by step.
  // oxlint-disable-next-line unicorn/no-new-array
  const levelsTicks = new Array<number>(size);
  return { passed: undefined, nowTicks: 0, levelsTicks, bucketNowTicks: undefined, bucketWallMs: undefined };
}

/** A store with a bounded number of buckets is nearly full or has evicted buckets in debt. */
export interface StorePressure {
  readonly type: 'pressure';
  /** Buckets in the store. */
  readonly size: number;
  /** The largest number of buckets that the store keeps. */
  readonly maxKeys: number;
  /** Buckets evicted in debt since the last report; 0 when the store is nearly full. */
  readonly evicted: number;
  /** The limit with the most buckets, and their number. */
  readonly largest: { readonly limit: string; readonly size: number };
}

/**
 * What a store reports by itself, see {@link Store.watch}.
 *
 * - `down`: no call can be answered now, for the reason `cause`. A limiter then decides by its failure policies, except
 *   for the trial calls that it makes in every outage.
 * - `up`: calls can be answered again. This is not an answer yet: a limiter ends an outage at the first answer.
 * - `pressure`: see {@link StorePressure}.
 */
export type StoreReport = { readonly type: 'down'; readonly cause: unknown } | { readonly type: 'up' } | StorePressure;

/** One call by which a store with leases reports what its process has used, and leases tokens. */
export interface StoreSync {
  /** `answered`, or `failed` when the server did not answer in time. Then the sync is repeated. */
  readonly state: 'answered' | 'failed';
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** The tokens that the process let through beyond its leases, and reports. Not a whole number if limits have changed. */
  readonly charged: number;
  /** With `answered`: the tokens that were leased. */
  readonly granted?: number;
}

/** The clock for the level of one bucket, or the end of its period. Added to the level, it gives the TAT. */
export function nowTicksAt({ nowTicks, bucketNowTicks }: StoreReading, index: number): number {
  return bucketNowTicks?.[index] ?? nowTicks;
}

/** An id that is blocked at one limit until an instant, whatever is in its bucket. */
export interface StoreBlock extends BucketName {
  /** The first millisecond of Unix time at which it is not blocked any more. */
  readonly untilMs: number;
  /** Why, for people. */
  readonly reason: string;
  /** Who has blocked it. */
  readonly by: string;
}

/** The blocks of a store: all of them as this process knows them, and the calls that change them for every process. */
export interface StoreBlocks {
  /** Whether this process knows of none. */
  readonly isEmpty: boolean;
  /**
   * Returns the block of an id that has not ended. No call of a server: each decision asks for it. When all have ended, this process
   * forgets them, and notifies the listeners.
   *
   * @param nowMs - The wall clock of the limiter.
   */
  find(limit: string, id: string, nowMs: number): StoreBlock | undefined;
  /**
   * Adds blocks, in place of those of the same ids, and deletes those that have ended.
   *
   * @param nowMs - The wall clock of the limiter.
   * @param deadlineMs - How long the caller waits, in milliseconds.
   * @throws {SluiceError} `ERR_OPTION` when there would be more than 10,000; when the store can't answer, what it rejects with.
   */
  put(blocks: readonly StoreBlock[], nowMs: number, deadlineMs: number): Awaitable<void>;
  /** Deletes the blocks of ids. Returns those that there were. */
  delete(buckets: readonly BucketName[], deadlineMs: number): Awaitable<readonly StoreBlock[]>;
  /** Reads all blocks from the store. Some may have ended. */
  list(deadlineMs: number): Awaitable<readonly StoreBlock[]>;
  /**
   * Called at each decision, for a store that other processes use: reads the blocks at most once a second, while nobody waits.
   * Omitted where this process alone makes blocks.
   */
  note?(): void;
  /**
   * Registers a listener for changes, and for an error that a person has to see to.
   *
   * @returns A function that removes the listener.
   */
  watch(listener: (error?: unknown) => void): () => void;
}

/** What a store promises beyond the contract of {@link Store}, so that a limiter does less for each call. */
export interface StoreTraits {
  /**
   * The store answers every call synchronously, never with a promise, and can't fail. It may only throw wrong use and
   * `StalePeriodError`. A limiter then calls it without a deadline and failure policies, and uses its `take`.
   */
  readonly answersAtOnce?: true | undefined;
  /**
   * The store settles every promise within the `deadlineMs` of its call, or a little later if the process is busy. When
   * the time is over, the promise rejects with `ERR_STORE_DEADLINE`. A limiter then sets no timer of its own.
   */
  readonly keepsDeadline?: true | undefined;
  /** The store accepts transactions with a {@link CalendarPeriod}. */
  readonly periods?: true | undefined;
  /** The store accepts transactions with a {@link SlotHolding}, and the operations `renew` and `release`. */
  readonly slots?: true | undefined;
  /**
   * The store decides limits that have an `overshoot` in the process, mostly without asking its servers, and has the method
   * `describeLease`. Such answers are values, and others promises. A limiter asks it about these limits during outages too.
   */
  readonly leases?: true | undefined;
}

/**
 * Stores buckets and decides batches. Implement it to add a storage backend; pass an instance as the option `store`.
 *
 * Every operation is atomic and reads the store's own clock once. No batch contains a bucket twice. Operations are plain
 * data, which can be sent to another thread or process; an entry may have more properties than its type. A store whose
 * buckets are on several servers may read one clock for each server, see {@link StoreReading}, but must never take more
 * tokens than a bucket has. A store returns values or promises, and always the same kind, unless it has the trait
 * `leases`.
 *
 * The rule for each operation is in gcra.ts; `storeContract` in `@sluice/core/testing` tests an implementation. A bucket
 * whose TAT has passed is the same as no bucket. A level above a transaction's `capTicks` is left as it is,
 * because the bucket was used with other numbers; only `cap` cuts it. If the store's clock can step back, the store
 * remembers the level that it wrote, and cuts a level above the tolerance to it: between two writes a level can only
 * fall, so a higher one means that the clock was wrong. {@link CalendarPeriod} describes buckets with a period.
 *
 * A store that can't answer rejects. A {@link SluiceError} with code `ERR_STORE_BUCKET` means that a single bucket is
 * broken. A `StalePeriodError` is thrown to the caller, which computes its periods again. Any other rejection
 * counts as a failure of the whole store, except a SluiceError of another kind than `store`: it is thrown to the
 * caller.
 */
export interface Store {
  /** What kind of store it is, for metrics: `redis`. */
  readonly name?: string | undefined;
  /** What the store promises beyond this contract. Omitted by a store that promises nothing more. */
  readonly traits?: StoreTraits | undefined;
  /**
   * Resolves when the store can answer. Rejects with `ERR_STORE_UNAVAILABLE`, and the cause in its message, when it
   * can't within `timeoutMs`, and with `ERR_CLOSED` when it is closed before. Omitted by stores that have nothing to
   * wait for.
   */
  ready?(options?: ReadyOptions): Awaitable<void>;
  /**
   * Executes an operation on buckets: all that a store does with them.
   *
   * @param deadlineMs - How long the caller waits, in milliseconds. After that, a store must not take tokens if it can
   * prevent it. A store with the trait `keepsDeadline` rejects then with `ERR_STORE_DEADLINE`.
   * @returns What was decided, and the levels before or after: see {@link StoreOperation}.
   */
  run(operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading>;
  /**
   * Does what `run` does with a `spend` of one batch, and creates no object: the path of most requests. Optional, and only
   * for stores with the trait `answersAtOnce`.
   *
   * @param reading - To be filled. The store does not keep it.
   */
  take?(batch: readonly StoreTransaction[], reading: ReadingToFill): void;
  /**
   * Returns who holds slots of each bucket, as of now: each holder once, in any order. Only for stores with the trait `slots`.
   *
   * @param deadlineMs - As for {@link run}.
   */
  holders?(buckets: readonly StoreBucket[], deadlineMs?: number): Awaitable<readonly (readonly string[])[]>;
  /**
   * `storeGuard` of `@sluice/core/store`, which waits for answers until the deadline, and lets failure policies decide when
   * there is none. Only a store with the trait `answersAtOnce` has none, and does not load it.
   */
  readonly guard?: object | undefined;
  /**
   * `otherNumbers` of `@sluice/core/store`: with it, a limiter finds other processes whose limits have the same names and
   * other numbers. Only for stores with {@link holders}. A store that one process uses needs none, and does not load it.
   */
  readonly otherNumbers?: ((parts: never) => object) | undefined;
  /** The ids that operators have blocked, which `storeBlocks` of `@sluice/core/store` makes. Without it, none can be. */
  readonly blocks?: StoreBlocks | undefined;
  /** Describes how the store decides a limit that has an `overshoot`. Only stores with the trait `leases` have it. */
  describeLease?(numbers: OvershootNumbers): LeaseDescription;
  /**
   * Registers a listener for each sync of leases that has ended. It never throws. Only stores with the trait `leases` have it.
   *
   * @returns A function that removes the listener.
   */
  watchSyncs?(listener: (sync: StoreSync) => void): () => void;
  /**
   * Registers a listener for what the store finds out without a call. A store reports only what it knows of: one with a
   * connection `down` and `up`, one with a bounded number of buckets `pressure`, at most every few minutes. If it is
   * down when the listener is registered, it reports that at once. The listener of a limiter never throws. Omitted by
   * stores that have nothing to report.
   *
   * A store should report `down` only when calls fail without delay, and not for a short loss of its connection: a
   * limiter emits an event for each change.
   *
   * @returns A function that removes the listener. It may be called again, and even after `close`.
   */
  watch?(listener: (report: StoreReport) => void): () => void;
  /** Releases the store's resources. Repeated calls do nothing; any other call then throws `ERR_CLOSED`. */
  close(): Awaitable<void>;
}
