import type { StoreBucket } from '@sluice/core/store';
import { LeasedBucket, type LeasedName, type LeaseTerms } from './leased-bucket.ts';
import { LeaseStream } from './lease-stream.ts';
import { RecentIds } from './recent-ids.ts';

/** How many buckets a new bucket has looked at, to drop those at rest. More than one, so that dropping catches up. */
const LOOKS_PER_NEW_BUCKET = 4;

export interface LeasedBucketsOptions {
  /** The most buckets that this process leases. */
  readonly maxKeys: number;
  /** The longest time between two syncs of a bucket in use. */
  readonly syncTicks: number;
  /** The part of the time between syncs that this process uses: its own, so that all processes get tokens in turn. */
  readonly pace: number;
  /** Returns the Redis key of a stream. Streams with a tag are in the slot of the buckets with this tag. */
  readonly streamKey: (tag: string) => string;
}

/** A bucket that is to be leased. */
export interface NewBucket extends LeasedName {
  /** The part of the key that chooses the slot in a cluster; empty outside of one. */
  readonly tag: string;
}

/** The buckets that one process leases, and the streams that sync them. */
export class LeasedBuckets {
  readonly #options: LeasedBucketsOptions;
  /** By limit and id, because a Redis key takes longer to build than a decision. */
  readonly #byLimit = new Map<string, Map<string, LeasedBucket>>();
  readonly #streams: LeaseStream[] = [];
  readonly #byTag = new Map<string, LeaseStream>();
  readonly #tags = new Map<LeaseStream, string>();
  readonly #recentIds: RecentIds;
  /** The highest number of a sync of the streams that were dropped. Their keys may still exist in Redis. */
  #lastSequence = 0;
  /** Tokens of the buckets that were dropped. */
  #forfeitedTokens = 0;
  #sweptStream = 0;
  #sweptBucket = 0;
  #size = 0;

  constructor(options: LeasedBucketsOptions) {
    this.#options = options;
    this.#recentIds = new RecentIds(options.syncTicks);
  }

  get size(): number {
    return this.#size;
  }

  /** All streams. One whose `nextTicks` has come has a call to make. */
  get streams(): readonly LeaseStream[] {
    return this.#streams;
  }

  /** Returns a bucket that this process leases. */
  find({ limit, id, calendar, slots }: StoreBucket): LeasedBucket | undefined {
    // Those are other buckets of the same id.
    if (calendar !== undefined || slots !== undefined) return undefined;
    return this.#byLimit.get(limit)?.get(id);
  }

  /**
   * Adds a bucket that {@link find} did not find, and that is asked for now. Returns undefined if this process leases as many
   * as it may: such a bucket is decided strictly, because a bucket that was forgotten too early would get a new overdraft.
   */
  add({ tag, ...name }: NewBucket, terms: LeaseTerms, nowTicks: number): LeasedBucket | undefined {
    this.sweep(LOOKS_PER_NEW_BUCKET, nowTicks);
    if (this.#size >= this.#options.maxKeys) return undefined;
    const stream = this.#byTag.get(tag) ?? this.#newStream(tag);
    const bucket = new LeasedBucket(name, stream, terms);
    bucket.usedAtTicks = nowTicks;
    bucket.isNew = !this.#recentIds.note(name.id, nowTicks);
    bucket.place = stream.buckets.push(bucket) - 1;
    this.#bucketsOf(name.limit).set(name.id, bucket);
    this.#size++;
    return bucket;
  }

  /** What the status of a store reports of its buckets, see there. Looks at all of them. */
  totals(): { readonly forfeited: number; readonly estimatedOvershoot: number } {
    let forfeited = this.#forfeitedTokens;
    let most = 0;
    for (const { buckets } of this.#streams) {
      for (const bucket of buckets) {
        forfeited += bucket.leases.forfeitedTokens;
        most = Math.max(most, bucket.unchargedTokens);
      }
    }
    return { forfeited: Math.floor(forfeited), estimatedOvershoot: Math.ceil(most) };
  }

  /** Looks at up to `looks` buckets, and drops those at rest, and streams at rest. */
  sweep(looks: number, nowTicks: number): void {
    for (let i = 0; i < looks && this.#streams.length > 0; i++) {
      this.#sweptStream %= this.#streams.length;
      const stream = this.#streams[this.#sweptStream]!;
      const { buckets } = stream;
      const bucket = buckets[this.#sweptBucket];
      if (bucket === undefined) {
        if (stream.isAtRest(nowTicks)) this.#dropStream(stream);
        else this.#sweptStream++;
        this.#sweptBucket = 0;
      } else if (bucket.isAtRest(nowTicks)) this.#drop(bucket, stream);
      else this.#sweptBucket++;
    }
  }

  #drop(bucket: LeasedBucket, { buckets }: LeaseStream): void {
    if (bucket.isDropped) return;
    bucket.isDropped = true;
    this.#forfeitedTokens += bucket.leases.forfeitedTokens;
    this.#bucketsOf(bucket.limit).delete(bucket.id);
    this.#size--;
    const last = buckets.pop()!;
    if (last === bucket) return;
    last.place = bucket.place;
    buckets[bucket.place] = last;
  }

  #bucketsOf(limit: string): Map<string, LeasedBucket> {
    const buckets = this.#byLimit.get(limit) ?? new Map<string, LeasedBucket>();
    this.#byLimit.set(limit, buckets);
    return buckets;
  }

  #newStream(tag: string): LeaseStream {
    const options = this.#options;
    const stream = new LeaseStream(options.streamKey(tag), options.syncTicks, options.pace, this.#lastSequence);
    stream.onRest = (bucket) => this.#drop(bucket, stream);
    this.#tags.set(stream, tag);
    this.#byTag.set(tag, stream);
    this.#streams.push(stream);
    return stream;
  }

  /** Drops the stream that is swept. */
  #dropStream(stream: LeaseStream): void {
    this.#lastSequence = Math.max(this.#lastSequence, stream.sequence);
    this.#byTag.delete(this.#tags.get(stream)!);
    this.#tags.delete(stream);
    this.#streams[this.#sweptStream] = this.#streams.at(-1)!;
    this.#streams.pop();
  }
}
