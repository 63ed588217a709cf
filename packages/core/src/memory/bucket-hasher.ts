import { createHmac } from 'node:crypto';
import type { BucketName } from '../store.ts';
import { halfSipHash, type HashKey } from './half-sip-hash.ts';

// Configuration bounds the names of limits; a caller who invents names without end must not fill the memory.
const MAX_CACHED = 1000;

/**
 * Hashes what a bucket is, limit and id: the id under a key of the limit's own, derived from one secret. So the two are
 * joined without a separator that either could contain.
 */
export class BucketHasher {
  readonly #secret: Uint8Array;
  readonly #cached = new Map<string, HashKey>();
  // What was asked for last: a bucket is often asked for several times in a row, and the limit is mostly the same.
  #lastLimit: string | undefined;
  #lastKey: HashKey | undefined;
  #lastId: string | undefined;
  readonly #lastHash = new Int32Array(2);

  /** @param secret - At least 16 bytes that no client can know. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** How many keys of limits are held. */
  get cachedKeys(): number {
    return this.#cached.size;
  }

  /** Writes the hash as two int32. The first is odd, since 0 marks an empty slot; 63 bits remain. */
  hash({ limit, id }: BucketName, out: Int32Array, at: number): void {
    const last = this.#lastHash;
    if (limit !== this.#lastLimit || id !== this.#lastId) {
      halfSipHash(id, this.#keyOf(limit), last, 0);
      this.#lastId = id;
    }
    out[at] = last[0]! | 1;
    out[at + 1] = last[1]!;
  }

  #keyOf(limit: string): HashKey {
    if (limit === this.#lastLimit) return this.#lastKey!;
    const key = this.#cached.get(limit) ?? this.#derive(limit);
    this.#lastLimit = limit;
    this.#lastKey = key;
    return key;
  }

  #derive(limit: string): HashKey {
    const digest = createHmac('sha256', this.#secret).update(limit, 'utf16le').digest();
    const key = {
      narrow0: digest.readInt32LE(0),
      narrow1: digest.readInt32LE(4),
      wide0: digest.readInt32LE(8),
      wide1: digest.readInt32LE(12),
    };
    if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
    this.#cached.set(limit, key);
    return key;
  }
}
