import type { Limiter, Time } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import { LearntBucket } from './learnt-bucket.ts';

/** Buckets are looked through when there are twice as many as there were after the last time. */
const FEW_BUCKETS = 1000;

/** The buckets of a limiter of which something is known, or a call is on its way. */
export class LearntBuckets {
  readonly #time: Time;
  readonly #buckets = new Map<string, LearntBucket>();
  #fewBuckets = FEW_BUCKETS;

  constructor(time: Time) {
    this.#time = time;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Returns the bucket of a key. */
  of(key: string): LearntBucket {
    let bucket = this.#buckets.get(key);
    if (bucket !== undefined) return bucket;
    if (this.#buckets.size >= this.#fewBuckets) this.#sweep();
    bucket = new LearntBucket(this.#time);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  /** Drops a bucket of which nothing is known any more. */
  forget(key: string): void {
    if (this.#buckets.get(key)?.isForgotten === true) this.#buckets.delete(key);
  }

  #sweep(): void {
    for (const key of this.#buckets.keys()) this.forget(key);
    this.#fewBuckets = Math.max(FEW_BUCKETS, 2 * this.#buckets.size);
  }
}

const ofLimiters = new WeakMap<object, LearntBuckets>();

/** Returns the buckets of a limiter, which all share that learn from its calls: a probe is alone whatever their options are. */
export function bucketsOf(limiter: Limiter<never>): LearntBuckets {
  let buckets = ofLimiters.get(limiter);
  if (buckets === undefined) ofLimiters.set(limiter, (buckets = new LearntBuckets(timeOf(limiter))));
  return buckets;
}
