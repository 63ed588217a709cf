import { isTooFarAhead, levelOf } from '../gcra.ts';
import type { BucketName } from '../store.ts';
import { BucketTable } from './bucket-table.ts';
import { Eviction } from './eviction.ts';
import { halfSipHash } from './half-sip-hash.ts';
import { LimitKeys } from './limit-keys.ts';
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
 * The buckets of a memory store by the places of a batch: a call names them all with `begin`, reads and writes them,
 * and ends with `trim`. Only then are there more than `maxKeys`, so a batch never evicts what it has just read.
 */
export class Buckets {
  readonly #maxKeys: number;
  readonly #limitKeys: LimitKeys;
  readonly #table: BucketTable;
  readonly #sweep: Sweep;
  readonly #eviction: Eviction;
  #evicted = 0;

  /** Two int32 for each bucket of the batch. */
  #hashes = new Int32Array(2);

  constructor({ maxKeys, secret, random }: BucketsOptions) {
    this.#maxKeys = maxKeys;
    this.#limitKeys = new LimitKeys(secret);
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

  /** Moves the sweep on and finds out what the places of a batch are. */
  begin(batch: readonly BucketName[], now: number): void {
    this.#sweep.step(now);
    if (this.#hashes.length < 2 * batch.length) this.#hashes = new Int32Array(2 * batch.length);
    for (let place = 0; place < batch.length; place++) {
      const { limit, id } = batch[place]!;
      halfSipHash(id, this.#limitKeys.of(limit), this.#hashes, 2 * place);
      // 0 marks an empty slot.
      if (this.#hashes[2 * place] === 0) this.#hashes[2 * place] = 1;
    }
  }

  /** The level of a bucket. A TAT too far ahead is replaced here, whatever the batch comes to. */
  level(place: number, now: number, tolerance: number): number {
    const tat = this.#table.tat(this.#low(place), this.#high(place));
    const level = levelOf(tat, now, tolerance);
    if (isTooFarAhead(tat, now, tolerance)) this.setLevel(place, now, level);
    return level;
  }

  /** Writes the TAT for a level; a level of 0 needs no bucket. */
  setLevel(place: number, now: number, level: number): void {
    if (level > 0) this.#table.put(this.#low(place), this.#high(place), now + level, now);
    else this.remove(place);
  }

  remove(place: number): void {
    this.#table.remove(this.#low(place), this.#high(place));
  }

  /** Evicts what is more than `maxKeys`. */
  trim(now: number): void {
    while (this.#table.size > this.#maxKeys) {
      if (this.#eviction.evict(now)) this.#evicted++;
    }
  }

  #low(place: number): number {
    return this.#hashes[2 * place]!;
  }

  #high(place: number): number {
    return this.#hashes[2 * place + 1]!;
  }
}
