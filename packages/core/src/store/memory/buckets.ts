import { fits, levelOf } from '../../rule/gcra.ts';
import type { ReadingToFill, StoreBucket, StoreTransaction } from '../store.ts';
import { canDeny, levelAfter } from '../transaction-rule.ts';
import { BatchPeriods, checkedEnd, mendedLevel, type BatchEntry } from './batch-periods.ts';
import type { BucketTable } from './bucket-table.ts';
import { Eviction } from './eviction.ts';
import { IdHasher } from './id-hasher.ts';
import { LimitTables } from './limit-tables.ts';
import { statsOf, sumOf, type LimitStats, type MemoryStats } from './memory-stats.ts';
import { PressureReports, type PressureListener } from './pressure.ts';
import { Slots } from './slots.ts';
import { wallUnits, type WallClock } from './store-time.ts';
import { Sweep } from './sweep.ts';

/** The parts of a store that a dump is made of. */
export interface Dumped {
  readonly tables: LimitTables;
  readonly hasher: IdHasher;
  readonly wall: WallClock;
}

/** A store with more than this share of `maxKeys` is nearly full, and reports it. */
const NEARLY_FULL = 0.9;

/** The parameters of {@link Buckets}. */
export interface BucketsOptions {
  readonly maxKeys: number;
  /** Returns 16 random bytes that no client knows. Called when the first id is hashed. */
  readonly newSecret: () => Uint8Array;
  /** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** The clock of buckets with a period. */
  readonly wall: WallClock;
}

/**
 * The buckets of a memory store. A call reads its whole batch, writes what changes, and ends with `trim`. Only `trim`
 * evicts, so that a batch never loses a bucket between reading and writing it.
 *
 * Buckets are evicted from the limit that has the most. A flood of ids on one limit therefore never displaces a bucket
 * of a limit that has fewer.
 */
export class Buckets {
  readonly slots: Slots = new Slots();
  readonly #maxKeys: number;
  readonly #nearlyFull: number;
  readonly #hasher: IdHasher;
  readonly #tables = new LimitTables();
  readonly #totals = this.#tables.totals;
  readonly #sweep = new Sweep(this.#tables, this.slots);
  readonly #eviction: Eviction;
  readonly #reports: PressureReports;
  readonly #wall: WallClock;

  // For each index of the current batch: two int32 of the hash, and the table of the limit, or the limit's name if it
  // has no table yet. The batch itself is not stored: the collector records references from old objects to new ones.
  #hashes = new Int32Array(2);
  readonly #located: (BucketTable | string)[] = [];
  readonly #periods: BatchPeriods;

  constructor({ maxKeys, newSecret, random, wall }: BucketsOptions) {
    this.#wall = wall;
    this.#periods = new BatchPeriods(wall);
    this.#maxKeys = maxKeys;
    this.#nearlyFull = maxKeys * NEARLY_FULL;
    this.#hasher = new IdHasher(newSecret);
    this.#eviction = new Eviction(random);
    this.#reports = new PressureReports(this.#tables, maxKeys);
  }

  /** Buckets evicted in debt. */
  get evicted(): number {
    return this.#totals.evicted;
  }

  stats(): MemoryStats {
    const { all, bytes } = this.#tables;
    const limits = new Map<string, LimitStats>();
    for (const table of all) limits.set(table.limit, sumOf(statsOf(table), limits.get(table.limit)));
    const slots = this.slots.table?.heldByLimit() ?? {};
    return { ...this.#totals, maxKeys: this.#maxKeys, bytes, limits: Object.fromEntries(limits), slots };
  }

  /** What dumps read and write: the tables, the hashes of their ids, and the clock of periods. */
  get dumped(): Dumped {
    return { tables: this.#tables, hasher: this.#hasher, wall: this.#wall };
  }

  /** @returns A function that removes the listener. */
  watch(listener: PressureListener): () => void {
    return this.#reports.add(listener);
  }

  /**
   * Advances the sweep and reads a batch. `setLevel` and the other methods then identify the buckets by their index in the
   * batch.
   *
   * @throws {StalePeriodError} when the wall clock shows a time outside of a period. No bucket has changed.
   */
  read(batch: readonly BatchEntry[], now: number, reading: ReadingToFill): void {
    this.#periods.wallMs = NaN;
    this.readNext(batch, now, reading);
  }

  /** Reads another batch of the same call, at the same reading of the wall clock. */
  readNext(batch: readonly BatchEntry[], now: number, reading: ReadingToFill): void {
    this.#sweep.step(now);
    if (this.#hashes.length < 2 * batch.length) this.#hashes = new Int32Array(2 * batch.length);
    this.#periods.areUsed = false;
    const { levelsTicks } = reading;
    for (let index = 0; index < batch.length; index++) levelsTicks[index] = this.#level(batch, index, now);
    reading.nowTicks = now;
    if (this.#periods.areUsed) this.#periods.fill(reading, now);
  }

  #level(batch: readonly BatchEntry[], index: number, now: number): number {
    const { limit, id, period, holding } = batch[index]!;
    if (holding !== undefined) return this.slots.table === undefined ? 0 : this.slots.table.level(batch[index]!, now);
    const hashes = this.#hashes;
    this.#hasher.hash(id, hashes, 2 * index);
    if (period !== undefined) return this.#levelInPeriod(batch, index);
    const table = this.#tables.find(limit);
    this.#located[index] = table ?? limit;
    return table === undefined ? 0 : levelOf(table.tat(hashes[2 * index]!, hashes[2 * index + 1]!), now);
  }

  // A function of its own because it is rare: V8 inlines the short caller.
  #levelInPeriod(batch: readonly BatchEntry[], index: number): number {
    // All ends before the first change: a stale period rejects the whole batch.
    this.#periods.find(batch);
    const { limit, calendar } = batch[index]!;
    if (calendar !== undefined) this.#hasher.combine(calendar, this.#hashes, 2 * index);
    const table = this.#tables.findOnWall(limit);
    this.#located[index] = table ?? limit;
    if (table === undefined) return 0;
    const end = this.#periods.endAt(index, 0);
    const tat = table.tat(this.#hashes[2 * index]!, this.#hashes[2 * index + 1]!);
    const level = levelOf(tat, end);
    const mended = this.#periods.mended(batch[index]!, index, level, tat - table.latestEnd);
    if (mended !== level) this.setLevel(index, end, mended);
    return mended;
  }

  /**
   * Does what `read` and the writing after it do, for one bucket whose level falls with time: most calls are for such a one.
   */
  takeOne(transaction: StoreTransaction, now: number, reading: ReadingToFill): void {
    this.#sweep.step(now);
    const hash = this.#hasher.hashOf(transaction.id);
    const low = hash[0]! | 1;
    const high = hash[1]!;
    const table = this.#tables.find(transaction.limit);
    const level = table === undefined ? 0 : levelOf(table.tat(low, high), now);
    reading.nowTicks = now;
    reading.levelsTicks[0] = level;
    reading.passed =
      fits(level, transaction.incrementTicks, transaction.fitTicks) || !canDeny(transaction.mode) ? 0 : -1;
    if (reading.passed < 0) return;
    const after = levelAfter(transaction, level);
    if (after === level) return;
    const own = table ?? this.#tableOf(transaction.limit);
    if (own.put(low, high, now + after, now)) this.#added(own, now);
  }

  /**
   * Does the same for one bucket with a calendar and a period.
   *
   * @throws {StalePeriodError} when the wall clock shows a time outside of the period. No bucket has changed.
   */
  takeOneInPeriod(transaction: StoreTransaction, now: number, reading: ReadingToFill): void {
    this.#sweep.step(now);
    const { limit, id, calendar, period } = transaction;
    const wallMs = this.#wall.nowMs();
    const end = wallUnits(checkedEnd(period!, wallMs));
    const hash = this.#hasher.hashOf(id);
    const calendarHash = this.#hasher.calendarHash(calendar!);
    const low = (hash[0]! ^ calendarHash[0]!) | 1;
    const high = hash[1]! ^ calendarHash[1]!;
    const table = this.#tables.findOnWall(limit);
    const written = table === undefined ? 0 : levelOf(table.tat(low, high), end);
    const isWrong = written > 1.75 * wallUnits(period![2] - period![1]);
    const level = isWrong ? mendedLevel(transaction.capTicks, end + written - table!.latestEnd) : written;
    reading.nowTicks = now;
    reading.levelsTicks[0] = level;
    reading.bucketNowTicks = [end];
    reading.bucketWallMs = [wallMs];
    reading.passed =
      fits(level, transaction.incrementTicks, transaction.fitTicks) || !canDeny(transaction.mode) ? 0 : -1;
    const after = reading.passed < 0 ? level : levelAfter(transaction, level);
    if (after === level && !isWrong) return;
    const own = table ?? this.#tableOnWallOf(limit);
    if (end > own.latestEnd) own.latestEnd = end;
    if (own.put(low, high, end + after, this.#wall.dropTime(wallMs))) this.#added(own, now);
  }

  /** Returns the time from which the level of a bucket counts: `now`, or the end of its period. */
  nowAt(index: number, now: number): number {
    return this.#periods.endAt(index, now);
  }

  /** Whether a bucket was written in the next period, which the clock has left again. Such a bucket does not change. */
  isAhead(index: number, level: number): boolean {
    return this.#periods.isAhead(index, level);
  }

  /** Writes the level of a bucket that `read` has just located, if it has changed. A bucket with level 0 is removed. */
  setLevel(index: number, now: number, level: number): void {
    const low = this.#hashes[2 * index]!;
    const high = this.#hashes[2 * index + 1]!;
    const found = this.#located[index]!;
    // It had another level, so it has a table.
    if (level === 0) return (found as BucketTable).remove(low, high);
    if (this.#periods.areUsed && this.#periods.has(index)) return this.#setLevelInPeriod(index, level);
    const table = typeof found === 'string' ? this.#tableOf(found) : found;
    if (table.put(low, high, now + level, now)) this.#tables.ranked(table);
  }

  #setLevelInPeriod(index: number, level: number): void {
    const found = this.#located[index]!;
    const table = typeof found === 'string' ? this.#tableOnWallOf(found) : found;
    const end = this.#periods.endAt(index, 0);
    if (end > table.latestEnd) table.latestEnd = end;
    const isNew = table.put(
      this.#hashes[2 * index]!,
      this.#hashes[2 * index + 1]!,
      end + level,
      this.#periods.dropTime(),
    );
    if (isNew) this.#tables.ranked(table);
  }

  /** Advances the sweep and drops buckets, whatever their levels. */
  forget(batch: readonly StoreBucket[], now: number): void {
    this.#sweep.step(now);
    for (const bucket of batch) {
      if (bucket.slots === true) this.slots.table?.reset(bucket);
      else this.#remove(bucket);
    }
  }

  #remove({ limit, id, calendar }: StoreBucket): void {
    this.#hasher.hash(id, this.#hashes, 0);
    // A bucket with a calendar is another one than the rate of the same limit and id.
    if (calendar === undefined) this.#tables.find(limit)?.remove(this.#hashes[0]!, this.#hashes[1]!);
    else this.#hasher.combine(calendar, this.#hashes, 0);
    this.#tables.findOnWall(limit)?.remove(this.#hashes[0]!, this.#hashes[1]!);
  }

  #added(table: BucketTable, now: number): void {
    this.#tables.ranked(table);
    this.trim(now);
  }

  /** Evicts buckets above `maxKeys`. */
  trim(now: number): void {
    if (this.#totals.size > this.#nearlyFull) this.#trimNearlyFull(now);
  }

  // A function of its own because it is rare: V8 inlines the short caller.
  #trimNearlyFull(now: number): void {
    while (this.#totals.size > this.#maxKeys) {
      const table = this.#tables.largest();
      this.#eviction.evict(table, table.wall === undefined ? now : table.wall.now());
    }
    this.#reports.report(now);
  }

  #tableOf(limit: string): BucketTable {
    const table = this.#tables.find(limit);
    if (table !== undefined) return table;
    this.#sweep.hasten();
    return this.#tables.create(limit);
  }

  #tableOnWallOf(limit: string): BucketTable {
    const table = this.#tables.findOnWall(limit);
    if (table !== undefined) return table;
    this.#sweep.hasten();
    return this.#tables.create(limit, this.#wall);
  }
}
