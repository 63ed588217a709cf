// The room store/memory: the memory store: tables of buckets, sweep, eviction at `maxKeys`.
import { randomBytes } from '../../runtime/random-bytes.ts';
import { joinedReading } from '../alternatives.ts';
import { levelAfter, levelAfterRefund, passes } from '../transaction-rule.ts';
import { systemTime } from '../../time/system-time.ts';
import { checkTime, type Time } from '../../time/time.ts';
import { complaint, SluiceError } from '../../checks/errors.ts';
import { charged } from '../../rule/gcra.ts';
import { checkOptions, wholeNumber } from '../../checks/options.ts';
import { KnownBlocks } from '../known-blocks.ts';
import {
  type StoreBlocks,
  EMPTY_READING,
  emptyReading,
  type ReadingToFill,
  type Store,
  type StoreBucket,
  type StoreHold,
  type StorePressure,
  type StoreReading,
  type StoreTransaction,
  type DecidingOperation,
  type StoreOperation,
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
  readonly maxKeys?: number | undefined;
  /**
   * The source of time. Buckets with a calendar period follow its wall clock, and all others its monotonic clock.
   * Default: the process's own time; for tests a `FakeTime` of `@sluice/core/testing`.
   */
  readonly time?: Time | undefined;
}

/** A store in the memory of this process, created by {@link memoryStore}. Its methods return values, never promises. */
export interface MemoryStore extends Store {
  run(operation: StoreOperation): StoreReading;
  holders(buckets: readonly StoreBucket[]): readonly (readonly string[])[];
  take(batch: readonly StoreTransaction[], reading: ReadingToFill): void;
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
 * their number falls. The 2 kB of a limit remain for a thousand calls after its last bucket was dropped, unless the store
 * has buckets of more than a thousand limits. A store that is not called keeps its memory.
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
  return new MemoryBuckets(time, { maxKeys, newSecret: () => randomBytes(SECRET_BYTES), random: Math.random });
}

let open: (store: MemoryStore) => { readonly buckets: Buckets; readonly nowTicks: number };

/**
 * Returns the buckets of a memory store, for its dumps, and its time. A function, because a property would be public.
 *
 * @throws {SluiceError} `ERR_CLOSED`; `ERR_OPTION` for another store.
 */
export function openBuckets(store: MemoryStore): ReturnType<typeof open> {
  return open(store);
}

function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This memory store was closed. Make a new one with memoryStore().');
}

class MemoryBuckets implements MemoryStore {
  readonly name = 'memory';
  readonly traits = { answersAtOnce: true, periods: true, slots: true } as const;
  readonly blocks: StoreBlocks = new KnownBlocks();
  /** A property, because a limiter may also call it on an object that inherits from this store. */
  readonly watch: MemoryStore['watch'] = (listener) => this.#open().watch(listener);
  readonly #time: StoreTime;
  #buckets: Buckets | undefined;
  #evictedInAll = 0;

  static {
    open = (store) => {
      if (!(store instanceof MemoryBuckets)) {
        const remedy = 'It must be of the same copy of @sluice/core.';
        throw complaint('ERR_OPTION', { option: 'store', demand: 'made by memoryStore', value: store, remedy });
      }
      return { buckets: store.#open(), nowTicks: store.#time.nowTicks() };
    };
  }

  constructor(time: Time, options: Omit<BucketsOptions, 'wall'>) {
    this.#time = new StoreTime(time);
    this.#buckets = new Buckets({ ...options, wall: new WallClock(time) });
  }

  run(operation: StoreOperation): StoreReading {
    const buckets = this.#open();
    // It needs no clock.
    if (operation.kind === 'release') return release(buckets, operation.batch);
    const nowTicks = this.#time.nowTicks();
    switch (operation.kind) {
      case 'spend':
      case 'check':
        return decide(buckets, operation, nowTicks);
      case 'charge':
        return change(buckets, operation.batch, nowTicks, ({ incrementTicks, capTicks }, level) =>
          charged(level, incrementTicks, capTicks),
        );
      case 'refund':
        return change(buckets, operation.batch, nowTicks, levelAfterRefund);
      case 'cap':
        return change(buckets, operation.batch, nowTicks, ({ capTicks }, level) => Math.min(level, capTicks));
      case 'renew':
        for (const hold of operation.batch) buckets.slots.made().hold(hold, nowTicks);
        break;
      case 'reset':
        buckets.forget(operation.batch, nowTicks);
    }
    return EMPTY_READING;
  }

  holders(buckets: readonly StoreBucket[]): readonly (readonly string[])[] {
    const { slots } = this.#open();
    const nowTicks = this.#time.nowTicks();
    return buckets.map((bucket) => slots.table?.holders(bucket, nowTicks) ?? []);
  }

  take(batch: readonly StoreTransaction[], reading: ReadingToFill): void {
    const buckets = this.#buckets;
    if (buckets === undefined) throw closed();
    const nowTicks = this.#time.nowTicks();
    if (batch.length === 1 && batch[0]!.period === undefined && batch[0]!.holding === undefined)
      return buckets.takeOne(batch[0]!, nowTicks, reading);
    if (batch.length === 1 && batch[0]!.period !== undefined && batch[0]!.calendar !== undefined)
      return buckets.takeOneInPeriod(batch[0]!, nowTicks, reading);
    buckets.read(batch, nowTicks, reading);
    reading.passed = passes(batch, reading.levelsTicks) ? 0 : -1;
    if (reading.passed === 0) takeAll(buckets, batch, reading, nowTicks);
  }

  close(): void {
    this.#evictedInAll = this.evicted;
    this.#buckets = undefined;
  }

  /** For metrics, whose counters do not fall: also of a store that is closed. */
  get evicted(): number {
    return this.#buckets?.evicted ?? this.#evictedInAll;
  }

  stats(): MemoryStats {
    return this.#open().stats();
  }

  #open(): Buckets {
    if (this.#buckets === undefined) throw closed();
    return this.#buckets;
  }
}

function release({ slots: { table } }: Buckets, batch: readonly StoreHold[]): StoreReading {
  if (table !== undefined) for (let i = 0; i < batch.length; i++) table.release(batch[i]!);
  return EMPTY_READING;
}

function decide(buckets: Buckets, { kind, alternatives }: DecidingOperation, nowTicks: number): StoreReading {
  const readings: StoreReading[] = [];
  for (const batch of alternatives) {
    const reading = emptyReading(batch.length);
    if (readings.length === 0) buckets.read(batch, nowTicks, reading);
    else buckets.readNext(batch, nowTicks, reading);
    readings.push(reading);
    reading.passed = passes(batch, reading.levelsTicks) ? 0 : -1;
    if (reading.passed < 0) continue;
    if (kind === 'spend') takeAll(buckets, batch, reading, nowTicks);
    break;
  }
  return joinedReading(readings);
}

/** Takes a batch that was just read and passes. */
function takeAll(
  buckets: Buckets,
  batch: readonly StoreTransaction[],
  { levelsTicks }: StoreReading,
  now: number,
): void {
  for (let index = 0; index < batch.length; index++) {
    const transaction = batch[index]!;
    const before = levelsTicks[index]!;
    const after = levelAfter(transaction, before);
    if (after === before) continue;
    if (transaction.holding === undefined) buckets.setLevel(index, now, after);
    else (buckets.slots.table ?? buckets.slots.made()).take(transaction, transaction.holding, after - before, now);
  }
  buckets.trim(now);
}

function change<T extends BatchEntry>(
  buckets: Buckets,
  batch: readonly T[],
  nowTicks: number,
  after: (change: T, level: number, now: number) => number,
): StoreReading {
  const reading = emptyReading(batch.length);
  buckets.read(batch, nowTicks, reading);
  const beforeTicks = reading.levelsTicks.slice();
  for (const [index, each] of batch.entries()) {
    const before = beforeTicks[index]!;
    if (buckets.isAhead(index, before)) continue;
    const level = after(each, before, buckets.nowAt(index, nowTicks));
    reading.levelsTicks[index] = level;
    // A full bucket may still contain the count of the last period, in case the clock steps back.
    if (level !== before) buckets.setLevel(index, nowTicks, level);
  }
  buckets.trim(nowTicks);
  return Object.assign(reading, { beforeTicks });
}
