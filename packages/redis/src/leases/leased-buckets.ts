import { LeasedBucket, type LeaseTerms } from './leased-bucket.ts';
import { LeaseStream, MOST_BUCKETS } from './lease-stream.ts';

/** How many buckets a new bucket has looked at, to drop those at rest. More than one, so that dropping catches up. */
const LOOKS_PER_NEW_BUCKET = 4;

export interface LeasedBucketsOptions {
  /** The most buckets that this process leases. */
  readonly maxKeys: number;
  /** The longest time between two syncs of a bucket in use. */
  readonly syncTicks: number;
  /** Returns the Redis key of a stream. Streams with a tag are in the slot of the buckets with this tag. */
  streamKey(tag: string, index: number): string;
}

/** The buckets that one process leases, and the streams that sync them. */
export class LeasedBuckets {
  readonly #options: LeasedBucketsOptions;
  readonly #buckets = new Map<string, LeasedBucket>();
  readonly #streams: LeaseStream[] = [];
  readonly #byTag = new Map<string, LeaseStream[]>();
  /** Of the buckets that were dropped. */
  #forfeitedTokens = 0;
  #sweptStream = 0;
  #sweptBucket = 0;

  constructor(options: LeasedBucketsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** All streams. One whose `nextTicks` has come has a call to make. */
  get streams(): readonly LeaseStream[] {
    return this.#streams;
  }

  /**
   * Returns a bucket. Undefined if this process leases as many as it may: such a bucket is decided strictly, because a
   * bucket that was forgotten too early would get a new overdraft.
   *
   * @param tag - The part of the key that chooses the slot in a cluster; empty outside of one.
   */
  bucket(key: string, tag: string, terms: LeaseTerms, nowTicks: number): LeasedBucket | undefined {
    const bucket = this.#buckets.get(key) ?? this.#newBucket(key, tag, terms, nowTicks);
    if (bucket !== undefined) bucket.usedAtTicks = nowTicks;
    return bucket;
  }

  /** Returns a bucket that this process leases. */
  find(key: string): LeasedBucket | undefined {
    return this.#buckets.get(key);
  }

  /** What the status of a store reports of its buckets, see there. Looks at all of them. */
  totals(): { readonly forfeited: number; readonly estimatedOvershoot: number } {
    let forfeited = this.#forfeitedTokens;
    let most = 0;
    for (const bucket of this.#buckets.values()) {
      forfeited += bucket.leases.forfeitedTokens;
      most = Math.max(most, bucket.unchargedTokens);
    }
    return { forfeited: Math.floor(forfeited), estimatedOvershoot: Math.ceil(most) };
  }

  /** Looks at up to `looks` buckets, and drops those at rest. */
  sweep(looks: number, nowTicks: number): void {
    for (let i = 0; i < looks && this.#streams.length > 0; i++) {
      this.#sweptStream %= this.#streams.length;
      const { buckets } = this.#streams[this.#sweptStream]!;
      const bucket = buckets[this.#sweptBucket];
      if (bucket === undefined) {
        this.#sweptStream++;
        this.#sweptBucket = 0;
      } else if (bucket.isAtRest(nowTicks)) {
        bucket.isDropped = true;
        this.#forfeitedTokens += bucket.leases.forfeitedTokens;
        this.#buckets.delete(bucket.key);
        buckets[this.#sweptBucket] = buckets.at(-1)!;
        buckets.pop();
      } else this.#sweptBucket++;
    }
  }

  #newBucket(key: string, tag: string, terms: LeaseTerms, nowTicks: number): LeasedBucket | undefined {
    this.sweep(LOOKS_PER_NEW_BUCKET, nowTicks);
    if (this.#buckets.size >= this.#options.maxKeys) return undefined;
    const stream = this.#streamWithRoom(tag);
    const bucket = new LeasedBucket(key, stream, terms);
    stream.buckets.push(bucket);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #streamWithRoom(tag: string): LeaseStream {
    const streams = this.#byTag.get(tag) ?? [];
    this.#byTag.set(tag, streams);
    const roomy = streams.find(({ buckets }) => buckets.length < MOST_BUCKETS);
    if (roomy !== undefined) return roomy;
    const stream = new LeaseStream(this.#options.streamKey(tag, streams.length), this.#options.syncTicks);
    streams.push(stream);
    this.#streams.push(stream);
    return stream;
  }
}
