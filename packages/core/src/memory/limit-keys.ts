import { createHmac } from 'node:crypto';
import type { HashKey } from './half-sip-hash.ts';

// Configuration bounds the names of limits; a caller who invents names without end must not fill the memory.
const MAX_CACHED = 1000;

/**
 * A hash key for every limit, derived from one secret. A bucket's identity is limit and id: hashing the id under the
 * key of its limit joins the two without a separator that either could contain.
 */
export class LimitKeys {
  readonly #secret: Uint8Array;
  readonly #cached = new Map<string, HashKey>();
  #lastLimit: string | undefined;
  #lastKey: HashKey | undefined;

  /** @param secret - At least 16 bytes that no client can know. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** How many derived keys are held. */
  get cached(): number {
    return this.#cached.size;
  }

  of(limit: string): HashKey {
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
