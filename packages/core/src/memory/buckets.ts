import { levelOf } from '../gcra.ts';
import type { BucketName } from '../store.ts';
import { BucketHasher } from './bucket-hasher.ts';
import { BucketTable } from './bucket-table.ts';
import { Eviction } from './eviction.ts';
import { Sweep } from './sweep.ts';

/** What decides where buckets lie and which of them go when there are too many. */
export interface BucketsOptions {
  readonly maxKeys: number;
  /** At least 16 random bytes that no client can know. */
  readonly secret: Uint8Array;
  /** Gives numbers from 0 up to, not including, 1. */
  readonly random: () => number;
}

/**
 * The buckets of a memory store. A call reads its whole batch, writes what changes, and ends with `trim`: only there is
 * anything evicted, so a batch never loses a bucket between reading and writing it.
 */
export class Buckets {
  readonly #maxKeys: number;
  readonly #hasher: BucketHasher;
  readonly #table: BucketTable;
  readonly #sweep: Sweep;
  readonly #eviction: Eviction;
  #evicted = 0;

  /** The hashes of the batch at hand, two int32 for each place. */
  #hashes = new Int32Array(2);

  constructor({ maxKeys, secret, random }: BucketsOptions) {
    this.#maxKeys = maxKeys;
    this.#hasher = new BucketHasher(secret);
    this.#table = new BucketTable();
    this.#sweep = new Sweep(this.#table);
    this.#eviction = new Eviction(this.#table, random);
  }

  get size(): number {
    return this.#table.size;
  }

  get swept(): number {
    return this.#table.swept;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** How many buckets had to go although they were still in debt. */
  get evicted(): number {
    return this.#evicted;
  }

  /**
   * Moves the sweep on and gives the levels of a batch; `setLevel` then knows the buckets by their places in it.
   */
  read(batch: readonly BucketName[], now: number): number[] {
    this.#sweep.step(now);
    this.#makeRoomFor(batch.length);
    // Of the right length from the start: a pushed array takes several times the memory, on each request.
    // oxlint-disable-next-line unicorn/no-new-array
    const levels = new Array<number>(batch.length);
    for (let place = 0; place < batch.length; place++) levels[place] = this.#level(batch[place]!, place, now);
    return levels;
  }

  #level(bucket: BucketName, place: number, now: number): number {
    const hashes = this.#hashes;
    this.#hasher.hash(bucket, hashes, 2 * place);
    return levelOf(this.#table.tat(hashes[2 * place]!, hashes[2 * place + 1]!), now);
  }

  /** Writes the TAT for a level of a bucket that `read` has just located; a level of 0 needs no bucket. */
  setLevel(place: number, now: number, level: number): void {
    const low = this.#hashes[2 * place]!;
    const high = this.#hashes[2 * place + 1]!;
    if (level > 0) this.#table.put(low, high, now + level, now);
    else this.#table.remove(low, high);
  }

  /** Moves the sweep on and drops buckets, whatever they hold. */
  forget(batch: readonly BucketName[], now: number): void {
    this.#sweep.step(now);
    this.#makeRoomFor(batch.length);
    for (let place = 0; place < batch.length; place++) {
      this.#hasher.hash(batch[place]!, this.#hashes, 2 * place);
      this.setLevel(place, now, 0);
    }
  }

  /** Evicts what is more than `maxKeys`. */
  trim(now: number): void {
    while (this.#table.size > this.#maxKeys) {
      if (this.#eviction.evict(now)) this.#evicted++;
    }
  }

  #makeRoomFor(places: number): void {
    if (this.#hashes.length < 2 * places) this.#hashes = new Int32Array(2 * places);
  }
}
