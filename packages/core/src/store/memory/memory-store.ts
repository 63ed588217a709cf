import { randomBytes } from 'node:crypto';
import { passes } from '../all-or-nothing.ts';
import { checkClock, monotonicClock, type Clock } from '../../time/clock.ts';
import { SluiceError } from '../../checks/errors.ts';
import { charged, fits, refundable, refunded } from '../../rule/gcra.ts';
import { checkOptions, wholeNumber } from '../../checks/options.ts';
import type {
  BucketName,
  Store,
  StoreCap,
  StoreCharge,
  StorePressure,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '../store.ts';
import { Buckets, type BucketsOptions } from './buckets.ts';
import { SECRET_BYTES } from './id-hasher.ts';
import type { MemoryStats } from './memory-stats.ts';
import { StoreTime } from './store-time.ts';

const DEFAULT_MAX_KEYS = 1_000_000;
const MOST_KEYS = 1_000_000_000;

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The most buckets that are held, from 1 to 1,000,000,000; 1,000,000 unless given. Nothing is allocated ahead; a
   * bucket takes 20 to 40 bytes, a limit 2 kB. When there are more, a bucket of the limit that has the most is evicted,
   * the one that is soonest full again.
   */
  readonly maxKeys?: number;
  /** The source of time; the process's monotonic clock unless given. */
  readonly clock?: Clock;
}

/** What {@link memoryStore} makes: a store that answers at once, never with a promise. */
export interface MemoryStore extends Store {
  spend(batch: readonly StoreTransaction[]): StoreReading;
  check(batch: readonly StoreTransaction[]): StoreReading;
  charge(batch: readonly StoreCharge[]): StoreReading;
  refund(batch: readonly StoreRefund[]): StoreReading;
  cap(batch: readonly StoreCap[]): StoreReading;
  reset(batch: readonly BucketName[]): void;
  /** Forgets all buckets. Closing again does nothing; every other call is then the error `ERR_CLOSED`. */
  close(): void;
  /** What the store holds now. It takes as long as there are limits, however many buckets there are. */
  stats(): MemoryStats;
  onPressure(listener: (pressure: StorePressure) => void): () => void;
}

/**
 * Makes a store that keeps its buckets in the memory of this process, and nowhere else.
 *
 * Each limit has a table of hashes of its own, in which a bucket is 16 bytes: ids are not kept, only 63 bits of their
 * HalfSipHash under a key that is random for each store. That two ids share a bucket, to the disadvantage of both, has a
 * chance of 10⁻¹³ a look-up at a million buckets, and can't be brought about without that key.
 *
 * A flood of ids on one limit never displaces a bucket of a limit that has fewer. Among n limits that have buckets, a
 * limit with at most maxKeys / n of them loses none. `stats()` shows how near that is; a limiter warns when the store is
 * nine tenths full, and when buckets in debt are evicted.
 *
 * There is no timer. Each sixteenth call looks at 64 slots besides its own, drops buckets that are full again, and
 * gives memory back as they become fewer; a store that is not called keeps what it has.
 *
 * @example
 * const store = memoryStore({ maxKeys: 100_000 });
 * store.stats(); // { size: 0, maxKeys: 100000, evicted: 0, swept: 0, bytes: 0, limits: {} }
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an option that is none, `ERR_OPTION` for a value out of its range.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  checkOptions('memoryStore', options, ['maxKeys', 'clock']);
  const { maxKeys = DEFAULT_MAX_KEYS, clock = monotonicClock } = options;
  wholeNumber('maxKeys', maxKeys, { min: 1, max: MOST_KEYS, remedy: 'For a store of the usual size leave it out.' });
  checkClock(clock);
  return new LocalStore(clock, { maxKeys, secret: randomBytes(SECRET_BYTES), random: Math.random });
}

function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This memory store was closed. Make a new one with memoryStore().');
}

class LocalStore implements MemoryStore {
  readonly answersAtOnce = true;
  /** A property, since a limiter calls it also on an object that is derived from this store. */
  readonly onPressure: MemoryStore['onPressure'] = (listener) => this.#open().onPressure(listener);
  readonly #time: StoreTime;
  #buckets: Buckets | undefined;

  constructor(clock: Clock, options: BucketsOptions) {
    this.#time = new StoreTime(clock);
    this.#buckets = new Buckets(options);
  }

  spend(batch: readonly StoreTransaction[]): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    const levelsTicks = buckets.read(batch, nowTicks);
    if (passes(batch, levelsTicks)) {
      take(buckets, batch, levelsTicks, nowTicks);
      buckets.trim(nowTicks);
    }
    return { nowTicks, levelsTicks };
  }

  check(batch: readonly StoreTransaction[]): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    return { nowTicks, levelsTicks: buckets.read(batch, nowTicks) };
  }

  charge(batch: readonly StoreCharge[]): StoreReading {
    return this.#change(batch, ({ incrementTicks, toleranceTicks }, level) =>
      charged(level, incrementTicks, toleranceTicks),
    );
  }

  cap(batch: readonly StoreCap[]): StoreReading {
    return this.#change(batch, ({ toleranceTicks }, level) => Math.min(level, toleranceTicks));
  }

  refund(batch: readonly StoreRefund[]): StoreReading {
    return this.#change(batch, ({ incrementTicks, tatAfterSpendTicks = Infinity }, level, now) =>
      refunded(level, refundable(incrementTicks, tatAfterSpendTicks, now)),
    );
  }

  reset(batch: readonly BucketName[]): void {
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

  #change<T extends BucketName>(
    batch: readonly T[],
    levelAfter: (change: T, level: number, now: number) => number,
  ): StoreReading {
    const buckets = this.#open();
    const nowTicks = this.#time.nowTicks();
    const before = buckets.read(batch, nowTicks);
    const levelsTicks = batch.map((change, place) => levelAfter(change, before[place]!, nowTicks));
    for (const [place, level] of levelsTicks.entries()) buckets.setLevel(place, nowTicks, level);
    buckets.trim(nowTicks);
    return { nowTicks, levelsTicks };
  }
}

function take(buckets: Buckets, batch: readonly StoreTransaction[], levels: readonly number[], now: number): void {
  for (let place = 0; place < batch.length; place++) {
    const { mode, incrementTicks, toleranceTicks } = batch[place]!;
    const level = levels[place]!;
    if (mode !== 'check-only' && fits(level, incrementTicks, toleranceTicks)) {
      buckets.setLevel(place, now, level + incrementTicks);
    }
  }
}
