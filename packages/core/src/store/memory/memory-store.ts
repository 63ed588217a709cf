import { randomBytes } from '../../runtime/random-bytes.ts';
import { levelAfter, levelAfterRefund, passes, slotsTaken } from '../transaction-rule.ts';
import { checkTime, systemTime, type Time } from '../../time/time.ts';
import { SluiceError } from '../../checks/errors.ts';
import { charged } from '../../rule/gcra.ts';
import { checkOptions, wholeNumber } from '../../checks/options.ts';
import type {
  Store,
  StoreBucket,
  StoreCap,
  StoreCharge,
  StoreHold,
  StorePressure,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '../store.ts';
import type { BatchEntry } from './batch-periods.ts';
import { Buckets, type BucketsOptions } from './buckets.ts';
import { SECRET_BYTES } from './id-hasher.ts';
import type { MemoryStats } from './memory-stats.ts';
import { StoreTime, WallClock } from './store-time.ts';

const DEFAULT_MAX_KEYS = 1_000_000;
const MOST_KEYS = 1_000_000_000;

/** The options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The largest number of buckets, a whole number from 1 to 1,000,000,000. Default: 1,000,000. No memory is allocated
   * in advance; a bucket takes 20 to 40 bytes, a limit 2 kB. Above this number, a bucket of the limit with the most
   * buckets is evicted: of a sample of them, the one that is full soonest.
   */
  readonly maxKeys?: number;
  /**
   * The source of time. Buckets with a calendar period follow its wall clock, and all others its monotonic clock.
   * Default: the process's own time; for tests a `FakeTime` of `@sluice/core/testing`.
   */
  readonly time?: Time | undefined;
}

/** A store in the memory of this process, created by {@link memoryStore}. Its methods return values, never promises. */
export interface MemoryStore extends Store {
  spend(batch: readonly StoreTransaction[]): StoreReading;
  spendFirst(alternatives: readonly (readonly StoreTransaction[])[]): readonly StoreReading[];
  check(batch: readonly StoreTransaction[]): StoreReading;
  charge(batch: readonly StoreCharge[]): StoreReading;
  refund(batch: readonly StoreRefund[]): StoreReading;
  cap(batch: readonly StoreCap[]): StoreReading;
  renew(holds: readonly StoreHold[]): void;
  release(holds: readonly StoreHold[]): void;
  reset(batch: readonly StoreBucket[]): void;
  /** Deletes all buckets. Repeated calls do nothing; any other call then throws `ERR_CLOSED`. */
  close(): void;
  /** Returns the current statistics. The call takes time for each limit and bucket of slots, but for no other bucket. */
  stats(): MemoryStats;
  watch(listener: (report: StorePressure) => void): () => void;
}

/**
 * Creates a store that keeps its buckets in the memory of this process only.
 *
 * Each limit has a hash table with 16 bytes for each slot. Ids are not stored, only 63 bits of their HalfSipHash under
 * a key that is random for each store. With a million buckets, the probability that an id shares a bucket with another
 * one, to the disadvantage of both, is 10⁻¹³. An attacker can't cause it without the key.
 *
 * A flood of ids on one limit never displaces a bucket of a limit that has fewer buckets. Among n limits with buckets,
 * a limit with at most maxKeys / n of them loses none. `stats()` shows how close a store is to that. A limiter warns
 * when the store is nine tenths full, and when buckets in debt are evicted.
 *
 * Slots of a limit with a `concurrency` are in a table of their own. They are never evicted, and `maxKeys` does not
 * count them: there are only as many as are in use.
 *
 * There is no timer. Every sixteenth call also checks 64 slots, drops buckets that are full, and releases memory as
 * their number falls. A store that is not called keeps its memory.
 *
 * @example
 * const store = memoryStore({ maxKeys: 100_000 });
 * store.stats(); // { size: 0, maxKeys: 100000, evicted: 0, swept: 0, bytes: 0, limits: {}, slots: {} }
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option, `ERR_OPTION` for a value out of range.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, ['maxKeys', 'time']);
  const { maxKeys = DEFAULT_MAX_KEYS, time = systemTime } = options;
  wholeNumber('maxKeys', maxKeys, { min: 1, max: MOST_KEYS, remedy: 'For a store of the usual size leave it out.' });
  checkTime(time);
  return new LocalStore(time, { maxKeys, newSecret: () => randomBytes(SECRET_BYTES), random: Math.random });
}

function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This memory store was closed. Make a new one with memoryStore().');
}

class LocalStore implements MemoryStore {
  readonly traits = { answersAtOnce: true, periods: true, slots: true } as const;
  /** A property, because a limiter may also call it on an object that inherits from this store. */
  readonly watch: MemoryStore['watch'] = (listener) => this.#open().watch(listener);
  readonly #time: StoreTime;
  #buckets: Buckets | undefined;

  constructor(time: Time, options: Omit<BucketsOptions, 'wall'>) {
    this.#time = new StoreTime(time);
    this.#buckets = new Buckets({ ...options, wall: new WallClock(time) });
  }

  spend(batch: readonly StoreTransaction[]): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    const levelsTicks = buckets.read(batch, nowTicks);
    // Before `trim`, because a listener may call the store.
    const reading = buckets.readingOf(nowTicks, levelsTicks);
    if (passes(batch, levelsTicks)) {
      take(buckets, batch, levelsTicks, nowTicks);
      buckets.trim(nowTicks);
    }
    return reading;
  }

  // Beside `spend`, not its general case: the code of the path that every request takes stays as short as it is.
  spendFirst(alternatives: readonly (readonly StoreTransaction[])[]): readonly StoreReading[] {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    const readings: StoreReading[] = [];
    for (const batch of alternatives) {
      const levelsTicks = readings.length === 0 ? buckets.read(batch, nowTicks) : buckets.readNext(batch, nowTicks);
      readings.push(buckets.readingOf(nowTicks, levelsTicks));
      if (!passes(batch, levelsTicks)) continue;
      take(buckets, batch, levelsTicks, nowTicks);
      buckets.trim(nowTicks);
      break;
    }
    return readings;
  }

  check(batch: readonly StoreTransaction[]): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    return buckets.readingOf(nowTicks, buckets.read(batch, nowTicks));
  }

  charge(batch: readonly StoreCharge[]): StoreReading {
    return this.#change(batch, ({ incrementTicks, capTicks }, level) => charged(level, incrementTicks, capTicks));
  }

  cap(batch: readonly StoreCap[]): StoreReading {
    return this.#change(batch, ({ capTicks }, level) => Math.min(level, capTicks));
  }

  refund(batch: readonly StoreRefund[]): StoreReading {
    return this.#change(batch, levelAfterRefund);
  }

  renew(holds: readonly StoreHold[]): void {
    const { slots } = this.#open();
    const nowTicks = this.#time.nowTicks();
    for (const hold of holds) slots.hold(hold, nowTicks);
  }

  release(holds: readonly StoreHold[]): void {
    const { slots } = this.#open();
    for (const hold of holds) slots.release(hold);
  }

  reset(batch: readonly StoreBucket[]): void {
    this.#open().forget(batch, this.#time.nowTicks());
  }

  close(): void {
    this.#buckets = undefined;
  }

  stats(): MemoryStats {
    return this.#open().stats();
  }

  #open(): Buckets {
    if (this.#buckets === undefined) throw closed();
    return this.#buckets;
  }

  #change<T extends BatchEntry>(
    batch: readonly T[],
    after: (change: T, level: number, now: number) => number,
  ): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    const before = buckets.read(batch, nowTicks);
    const levelsTicks = batch.map((change, index) => {
      const level = before[index]!;
      return buckets.isAhead(index, level) ? level : after(change, level, buckets.nowAt(index, nowTicks));
    });
    for (const [index, level] of levelsTicks.entries()) {
      // A full bucket may still contain the count of the last period, in case the clock steps back.
      if (level !== before[index]) buckets.setLevel(index, nowTicks, level);
    }
    const reading = buckets.readingOf(nowTicks, levelsTicks);
    buckets.trim(nowTicks);
    return reading;
  }
}

function take(buckets: Buckets, batch: readonly StoreTransaction[], levels: readonly number[], now: number): void {
  for (let index = 0; index < batch.length; index++) {
    const transaction = batch[index]!;
    const before = levels[index]!;
    const after = levelAfter(transaction, before);
    if (after === before) continue;
    if (transaction.lease === undefined) buckets.setLevel(index, now, after);
    else buckets.slots.take(transaction, transaction.lease, slotsTaken(transaction, before), now);
  }
}
