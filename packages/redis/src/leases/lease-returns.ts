import type { StoreBucket, StoreReading, StoreRefund } from '@sluice/core/store';
import type { SharedStore } from '../batches/shared-store.ts';
import type { LeasedBucket } from './rules/leased-bucket.ts';
import type { LeasedBuckets } from './rules/leased-buckets.ts';
import { Spent } from './rules/lease.ts';
import { joinReadings } from './leased-batch.ts';
import { serverTicks } from './leased-levels.ts';
import type { LeaseSyncs } from './lease-syncs.ts';

interface LeaseReturnsParts {
  readonly shared: SharedStore;
  readonly buckets: LeasedBuckets;
  readonly syncs: LeaseSyncs;
}

/** Gives tokens of leased buckets back: to their leases, with the next sync, or in Redis at once. */
export class LeaseReturns {
  readonly #parts: LeaseReturnsParts;

  constructor(parts: LeaseReturnsParts) {
    this.#parts = parts;
  }

  /** Refunds decisions in the process, and everything else in Redis. */
  refund(batch: readonly StoreRefund[], deadlineMs: number): StoreReading | Promise<StoreReading> {
    const buckets = batch.map((refund) => this.#bucketOfDecision(refund));
    const exact = batch.filter((_, i) => buckets[i] === undefined);
    if (exact.length === batch.length) return this.#refundInRedis(batch, deadlineMs);
    const leased = batch.flatMap((refund, i) => (buckets[i] === undefined ? [] : [{ refund, bucket: buckets[i] }]));
    const { nowTicks } = this.#parts.syncs;
    for (const { refund, bucket } of leased) giveBack(refund, bucket, nowTicks);
    this.#parts.syncs.afterUse(leased, nowTicks);
    const reading = this.readingOf(leased, nowTicks);
    if (exact.length === 0) return reading;
    const isLeased = buckets.map((bucket) => bucket !== undefined);
    return this.#refundInRedis(exact, deadlineMs).then((levels) => joinReadings({ isLeased }, reading, levels));
  }

  /** The levels of buckets by the view of this process. */
  readingOf(entries: readonly { readonly bucket: LeasedBucket }[], nowTicks: number): StoreReading {
    const clocks = entries.map(({ bucket }) => serverTicks(bucket, nowTicks));
    const levelsTicks = entries.map(({ bucket }) => bucket.levelWithoutLeases(nowTicks));
    return { nowTicks: clocks[0]!, levelsTicks, bucketNowTicks: clocks, remembered: true };
  }

  /** Reads buckets again whose tokens were given back in Redis. */
  lowered(batch: readonly StoreBucket[]): void {
    this.#each(batch, (bucket, nowTicks) => bucket.lowered(nowTicks));
  }

  /** Forgets what is known of buckets that were reset in Redis. @param sentTicks - When the reset was sent. */
  reset(batch: readonly StoreBucket[], sentTicks: number): void {
    this.#each(batch, (bucket, nowTicks) => bucket.reset(nowTicks, sentTicks));
  }

  #each(batch: readonly StoreBucket[], run: (bucket: LeasedBucket, nowTicks: number) => void): void {
    const { buckets, syncs } = this.#parts;
    const { nowTicks } = syncs;
    for (const each of batch) {
      const bucket = buckets.find(each);
      if (bucket === undefined) continue;
      run(bucket, nowTicks);
      syncs.afterUse([{ bucket }], nowTicks);
    }
  }

  /** The bucket of a refund that this process makes. A decision of leases is never refunded in Redis. */
  #bucketOfDecision(refund: StoreRefund): LeasedBucket | undefined {
    const { tatAfterSpendTicks, lineTicks, period } = refund;
    if (tatAfterSpendTicks === undefined || lineTicks !== undefined || period !== undefined) return undefined;
    const bucket = this.#parts.buckets.find(refund);
    // The TAT of a lease is below 0.
    if (bucket?.isLeftToRedis === true && tatAfterSpendTicks > 0) return undefined;
    return bucket?.stream.serverAheadTicks === undefined && tatAfterSpendTicks > 0 ? undefined : bucket;
  }

  async #refundInRedis(batch: readonly StoreRefund[], deadlineMs: number): Promise<StoreReading> {
    const reading = await this.#parts.shared.run({ kind: 'refund', batch }, deadlineMs);
    this.lowered(batch);
    return reading;
  }
}

function giveBack({ incrementTicks, tatAfterSpendTicks }: StoreRefund, bucket: LeasedBucket, nowTicks: number): void {
  const tat = tatAfterSpendTicks!;
  if (tat <= 0) {
    bucket.giveBack(Math.floor(incrementTicks / bucket.terms.intervalTicks), -tat, nowTicks);
    return;
  }
  const spent = new Spent();
  spent.overdraftTicks = incrementTicks;
  spent.tatAfterTicks = tat - bucket.stream.serverAheadTicks!;
  bucket.refund(spent, nowTicks);
}
