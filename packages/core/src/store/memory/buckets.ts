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

/** From this share of `maxKeys` on a store is nearly full, and reports it. */
const NEARLY_FULL = 0.9;

/** What decides where buckets lie and which of them go when there are too many. */
export interface BucketsOptions {
  readonly maxKeys: number;
  /** 16 random bytes that no client can know. */
  readonly secret: Uint8Array;
  /** Gives numbers from 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * The buckets of a memory store. A call reads its whole batch, writes what changes, and ends with `trim`: only there is
 * anything evicted, so a batch never loses a bucket between reading and writing it.
 *
 * What must go goes from the limit that has the most buckets. So a flood of ids on one limit never displaces a bucket of
 * a limit that has fewer.
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

  // Of the batch at hand, for each place: two int32 of hash, and the table of its limit or the name of a limit without
  // one. The batch itself is not kept: V8 would have to note each new object that this old one refers to.
  #hashes = new Int32Array(2);
  readonly #places: (BucketTable | string)[] = [];

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

  /** @returns A function that ends the reports to this listener. */
  onPressure(listener: PressureListener): () => void {
    return this.#reports.add(listener);
  }

  /** Moves the sweep on and gives the levels of a batch; `setLevel` then knows the buckets by their places in it. */
  read(batch: readonly BucketName[], now: number): number[] {
    this.#sweep.step(now);
    this.#makeRoomFor(batch.length);
    // Of the right length from the start: a pushed array takes several times the memory, on each request.
    // oxlint-disable-next-line unicorn/no-new-array
    const levels = new Array<number>(batch.length);
    for (let place = 0; place < batch.length; place++) levels[place] = this.#level(batch[place]!, place, now);
    return levels;
  }

  #level({ limit, id }: BucketName, place: number, now: number): number {
    const hashes = this.#hashes;
    this.#hasher.hash(id, hashes, 2 * place);
    const table = this.#tables.find(limit);
    this.#places[place] = table ?? limit;
    return table === undefined ? 0 : levelOf(table.tat(hashes[2 * place]!, hashes[2 * place + 1]!), now);
  }

  /** Writes the TAT for a level of a bucket that `read` has just located; a level of 0 needs no bucket. */
  setLevel(place: number, now: number, level: number): void {
    const low = this.#hashes[2 * place]!;
    const high = this.#hashes[2 * place + 1]!;
    const found = this.#places[place]!;
    if (level > 0) {
      const table = typeof found === 'string' ? this.#tableOf(found) : found;
      table.put(low, high, now + level, now);
      this.#tables.ranked(table);
    } else if (typeof found !== 'string') found.remove(low, high);
  }

  /** Moves the sweep on and drops buckets, whatever they hold. */
  forget(batch: readonly BucketName[], now: number): void {
    this.#sweep.step(now);
    for (const { limit, id } of batch) {
      this.#hasher.hash(id, this.#hashes, 0);
      this.#tables.find(limit)?.remove(this.#hashes[0]!, this.#hashes[1]!);
    }
  }

  /** Evicts what is more than `maxKeys`. */
  trim(now: number): void {
    if (this.#totals.size > this.#nearlyFull) this.#trimNearlyFull(now);
  }

  // Apart, since it is rare: what is small is compiled into its caller.
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

  #makeRoomFor(places: number): void {
    if (this.#hashes.length < 2 * places) this.#hashes = new Int32Array(2 * places);
  }
}
