import { levelOf } from '../../rule/gcra.ts';
import type { BucketName } from '../store.ts';
import { ceilToMs } from '../../rule/ticks.ts';
import type { BucketTable } from './bucket-table.ts';
import { Eviction } from './eviction.ts';
import { IdHasher } from './id-hasher.ts';
import { LimitTables } from './limit-tables.ts';
import type { MemoryStats } from './memory-stats.ts';
import { PressureReports, type PressureListener } from './pressure-reports.ts';
import { Sweep } from './sweep.ts';

/** A store with more than this share of `maxKeys` is nearly full, and reports it. */
const NEARLY_FULL = 0.9;

/** The parameters of {@link Buckets}. */
export interface BucketsOptions {
  readonly maxKeys: number;
  /** 16 random bytes that no client knows. */
  readonly secret: Uint8Array;
  /** Returns random numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

/**
 * The buckets of a memory store. A call reads its whole batch, writes what changes, and ends with `trim`. Only `trim`
 * evicts, so that a batch never loses a bucket between reading and writing it.
 *
 * Buckets are evicted from the limit that has the most. A flood of ids on one limit therefore never displaces a bucket
 * of a limit that has fewer.
 */
export class Buckets {
  readonly #maxKeys: number;
  readonly #nearlyFull: number;
  readonly #hasher: IdHasher;
  readonly #tables = new LimitTables();
  readonly #totals = this.#tables.totals;
  readonly #sweep = new Sweep(this.#tables);
  readonly #eviction: Eviction;
  readonly #reports: PressureReports;

  // For each index of the current batch: two int32 of the hash, and the table of the limit, or the limit's name if it
  // has no table yet. The batch itself is not stored: see docs/hot-path.md on references from old objects to new ones.
  #hashes = new Int32Array(2);
  readonly #located: (BucketTable | string)[] = [];

  constructor({ maxKeys, secret, random }: BucketsOptions) {
    this.#maxKeys = maxKeys;
    this.#nearlyFull = maxKeys * NEARLY_FULL;
    this.#hasher = new IdHasher(secret);
    this.#eviction = new Eviction(random);
    this.#reports = new PressureReports(this.#tables, maxKeys);
  }

  stats(): MemoryStats {
    const { all, bytes } = this.#tables;
    const limits = all.map(({ limit, size, evicted, evictedDebtTicks }) => {
      return [limit, { size, evicted, evictedDebtMs: ceilToMs(evictedDebtTicks) }] as const;
    });
    return { ...this.#totals, maxKeys: this.#maxKeys, bytes, limits: Object.fromEntries(limits) };
  }

  /** @returns A function that removes the listener. */
  watch(listener: PressureListener): () => void {
    return this.#reports.add(listener);
  }

  /**
   * Advances the sweep and returns the levels of a batch. `setLevel` then identifies the buckets by their index in the
   * batch.
   */
  read(batch: readonly BucketName[], now: number): number[] {
    this.#sweep.step(now);
    this.#makeRoomFor(batch.length);
    // A preallocated array: see docs/hot-path.md.
    // oxlint-disable-next-line unicorn/no-new-array
    const levels = new Array<number>(batch.length);
    for (let index = 0; index < batch.length; index++) levels[index] = this.#level(batch[index]!, index, now);
    return levels;
  }

  #level({ limit, id }: BucketName, index: number, now: number): number {
    const hashes = this.#hashes;
    this.#hasher.hash(id, hashes, 2 * index);
    const table = this.#tables.find(limit);
    this.#located[index] = table ?? limit;
    return table === undefined ? 0 : levelOf(table.tat(hashes[2 * index]!, hashes[2 * index + 1]!), now);
  }

  /** Writes the level of a bucket that `read` has just located. A bucket with level 0 is removed. */
  setLevel(index: number, now: number, level: number): void {
    const low = this.#hashes[2 * index]!;
    const high = this.#hashes[2 * index + 1]!;
    const found = this.#located[index]!;
    if (level > 0) {
      const table = typeof found === 'string' ? this.#tableOf(found) : found;
      table.put(low, high, now + level, now);
      this.#tables.ranked(table);
    } else if (typeof found !== 'string') found.remove(low, high);
  }

  /** Advances the sweep and drops buckets, whatever their levels. */
  forget(batch: readonly BucketName[], now: number): void {
    this.#sweep.step(now);
    for (const { limit, id } of batch) {
      this.#hasher.hash(id, this.#hashes, 0);
      this.#tables.find(limit)?.remove(this.#hashes[0]!, this.#hashes[1]!);
    }
  }

  /** Evicts buckets above `maxKeys`. */
  trim(now: number): void {
    if (this.#totals.size > this.#nearlyFull) this.#trimNearlyFull(now);
  }

  // A function of its own because it is rare: see docs/hot-path.md.
  #trimNearlyFull(now: number): void {
    while (this.#totals.size > this.#maxKeys) this.#eviction.evict(this.#tables.largest(), now);
    this.#reports.report(now);
  }

  #tableOf(limit: string): BucketTable {
    const table = this.#tables.find(limit);
    if (table !== undefined) return table;
    this.#sweep.hasten();
    return this.#tables.create(limit);
  }

  #makeRoomFor(count: number): void {
    if (this.#hashes.length < 2 * count) this.#hashes = new Int32Array(2 * count);
  }
}
