import type { LeasedBucket } from './leased-bucket.ts';

/** The buckets that are due at one moment. */
interface Moment {
  readonly ticks: number;
  /** Without those that have been taken, which may be forgotten meanwhile. */
  readonly buckets: (LeasedBucket | undefined)[];
  /** How many of them have been taken. */
  taken: number;
}

/**
 * The buckets of a stream that ask for a sync, by the moment at which it is due. There are as many moments as limits with
 * different sync times, and nothing here takes time for each bucket.
 */
export class DueBuckets {
  readonly #moments = new Map<number, Moment>();
  readonly #pace: number;
  #first: Moment | undefined;
  #size = 0;

  /** @param pace - The part of the sync time of a limit after which its buckets are due. */
  constructor(pace: number) {
    this.#pace = pace;
  }

  /** How many buckets are waiting. */
  get size(): number {
    return this.#size;
  }

  /** When the next buckets are due; Infinity without any. */
  get nextTicks(): number {
    return this.#first === undefined ? Infinity : this.#first.ticks;
  }

  /** Adds a bucket that is not pending. All buckets of a limit are due at the same moments, so that they share calls. */
  add(bucket: LeasedBucket, nowTicks: number): void {
    bucket.dueGapTicks = this.#gapOf(bucket, nowTicks);
    this.addAt(bucket, nextMoment(nowTicks, bucket.dueGapTicks));
  }

  /** Makes a bucket due earlier whose gap has become shorter since it was added. */
  hasten(bucket: LeasedBucket, nowTicks: number): void {
    const ticks = nextMoment(nowTicks, this.#gapOf(bucket, nowTicks));
    const earlierTicks = bucket.dueTicks - ticks;
    if (earlierTicks <= 0) return;
    bucket.dueGapTicks -= earlierTicks;
    this.remove(bucket);
    this.addAt(bucket, ticks);
  }

  addAt(bucket: LeasedBucket, ticks: number): void {
    bucket.isPending = true;
    bucket.dueTicks = ticks;
    this.#size++;
    this.#momentAt(ticks).buckets.push(bucket);
  }

  /** Takes the next bucket that is due; with Infinity, also one that is not due yet. Undefined if there is none. */
  take(nowTicks: number): LeasedBucket | undefined {
    const first = this.#first;
    if (first === undefined || first.ticks > nowTicks) return undefined;
    const bucket = first.buckets[first.taken]!;
    first.buckets[first.taken] = undefined;
    this.remove(bucket);
    return bucket;
  }

  /** Removes a bucket, whether it was added or not. */
  remove(bucket: LeasedBucket): void {
    if (bucket.isPending) this.#size--;
    bucket.isPending = false;
    while (this.#first !== undefined && !this.#hasNext(this.#first)) this.#endFirst(this.#first);
  }

  /** Goes to the next bucket that was not removed, or was added again for the same moment. */
  #hasNext(moment: Moment): boolean {
    const { buckets, ticks } = moment;
    for (; moment.taken < buckets.length; moment.taken++) {
      const bucket = buckets[moment.taken];
      if (bucket?.isPending === true && bucket.dueTicks === ticks) return true;
    }
    return false;
  }

  #gapOf(bucket: LeasedBucket, nowTicks: number): number {
    return Math.floor(this.#pace * bucket.gapTicks(nowTicks));
  }

  #momentAt(ticks: number): Moment {
    const known = this.#moments.get(ticks);
    if (known !== undefined) return known;
    const moment: Moment = { ticks, buckets: [], taken: 0 };
    this.#moments.set(ticks, moment);
    if (ticks < this.nextTicks) this.#first = moment;
    return moment;
  }

  #endFirst({ ticks }: Moment): void {
    this.#moments.delete(ticks);
    this.#first = undefined;
    for (const moment of this.#moments.values()) if (moment.ticks < this.nextTicks) this.#first = moment;
  }
}

function nextMoment(nowTicks: number, gapTicks: number): number {
  return (Math.floor(nowTicks / gapTicks) + 1) * gapTicks;
}
