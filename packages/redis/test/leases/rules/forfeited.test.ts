import { describe, expect, test } from 'vitest';
import { LeasedBuckets } from '../../../src/leases/rules/leased-buckets.ts';
import type { LeaseStream } from '../../../src/leases/rules/lease-stream.ts';
import type { SyncedBucket } from '../../../src/leases/rules/sync-call.ts';
import { answer, leased, named, nextCall, SYNC, TERMS, TICKS_PER_MS, TOKEN } from '../support/leased.ts';

const SECOND = 1000 * TICKS_PER_MS;

function bucketWithLease(tokens: number) {
  const buckets = new LeasedBuckets({
    maxKeys: 10,
    syncTicks: SYNC,
    pace: 1,
    streamKey: (tag) => `${tag}:seq`,
  });
  const bucket = buckets.add(named('key'), TERMS, SECOND)!;
  const stream = buckets.streams.at(0)!;
  bucket.touch(SECOND);
  const first = nextCall(stream);
  answer(stream, first.call, first.atTicks);
  const nowTicks = leased(stream, bucket, tokens, first.atTicks);
  return { buckets, bucket, stream, nowTicks };
}

/** Lets the lease lapse, and answers the syncs after it. Returns how many ticks they gave back. */
function afterLapse(
  stream: LeaseStream,
  nowTicks: number,
  synced: Partial<SyncedBucket> & { readonly lateTicks?: number } = {},
): number {
  const { lateTicks = 0, ...bucket } = synced;
  let returned = 0;
  for (let atTicks = nowTicks; atTicks < nowTicks + SECOND; atTicks = stream.nextTicks) {
    const call = stream.nextCall(atTicks);
    if (call === undefined) continue;
    returned += call.entries.reduce((sum, { returnTicks }) => sum + returnTicks, 0);
    answer(stream, call, atTicks + lateTicks, bucket);
  }
  return returned;
}

describe('the tokens of a lease that lapses', () => {
  test('are not forfeited when they are given back, and else they are', () => {
    const { buckets, stream, nowTicks } = bucketWithLease(50);
    const returned = afterLapse(stream, nowTicks) / TOKEN;
    expect(returned).toBeGreaterThan(20);
    expect(returned).toBeLessThan(50);
    expect(buckets.totals().forfeited).toBe(Math.floor(50 - returned));
  });

  test('are forfeited when they have refilled', () => {
    const { buckets, bucket, stream, nowTicks } = bucketWithLease(10);
    bucket.look(3, nowTicks);
    bucket.spend(3, nowTicks);
    expect(afterLapse(stream, nowTicks)).toBe(0);
    expect(buckets.totals().forfeited).toBe(7);
  });

  test('are forfeited when the bucket was lowered meanwhile, or the sync was late', () => {
    for (const how of [{ keptFloor: false }, { lateTicks: 101 * TICKS_PER_MS }]) {
      const { buckets, stream, nowTicks } = bucketWithLease(50);
      expect(afterLapse(stream, nowTicks, how)).toBeGreaterThan(0);
      expect(buckets.totals().forfeited).toBe(50);
    }
  });

  test('are forfeited when the sync that gave them back was not answered', () => {
    const { buckets, bucket, stream, nowTicks } = bucketWithLease(50);
    bucket.look(0, nowTicks + TERMS.leaseTicks);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)?.returnTicks).toBeGreaterThan(0);
    stream.failed(call, atTicks);
    afterLapse(stream, nowTicks);
    expect(buckets.totals().forfeited).toBe(50);
  });

  test('are forfeited when a refund lowers the bucket before they are sent', () => {
    const { buckets, bucket, nowTicks } = bucketWithLease(50);
    bucket.look(0, nowTicks + TERMS.leaseTicks);
    expect(buckets.totals().forfeited).toBe(0);
    bucket.lowered(nowTicks + TERMS.leaseTicks);
    expect(buckets.totals().forfeited).toBe(50);
  });

  test('are not forfeited when the process resets the bucket', () => {
    const { buckets, bucket, nowTicks } = bucketWithLease(50);
    bucket.reset(nowTicks, nowTicks);
    expect(buckets.totals().forfeited).toBe(0);
  });

  test('remain counted when the bucket is dropped', () => {
    const { buckets, stream, nowTicks } = bucketWithLease(10);
    afterLapse(stream, nowTicks);
    buckets.sweep(10, nowTicks + 10 * SECOND);
    expect(buckets.size).toBe(0);
    expect(buckets.totals().forfeited).toBe(10);
  });
});

describe('the overshoot of a process now', () => {
  test('is the most that it let through for one bucket beyond its leases, until Redis has counted it', () => {
    const { buckets, bucket, stream, nowTicks } = bucketWithLease(10);
    for (const tokens of [10, 2]) {
      bucket.look(tokens, nowTicks);
      bucket.spend(tokens, nowTicks);
    }
    expect(buckets.totals().estimatedOvershoot).toBe(2);
    const other = buckets.add(named('other'), TERMS, nowTicks)!;
    other.look(3, nowTicks);
    other.spend(3, nowTicks);
    expect(buckets.totals().estimatedOvershoot).toBe(3);
    // The bucket with a lease is synced first.
    const { call, atTicks } = nextCall(stream);
    expect(buckets.totals().estimatedOvershoot).toBe(3);
    answer(stream, call, atTicks);
    const next = nextCall(stream);
    expect(buckets.totals().estimatedOvershoot).toBe(3);
    answer(stream, next.call, next.atTicks);
    expect(buckets.totals().estimatedOvershoot).toBe(0);
  });

  test('is in an outage also what a local limit let through', () => {
    const { buckets, stream, nowTicks } = bucketWithLease(10);
    const local = buckets.add(named('local'), { ...TERMS, onFailure: 'local' }, nowTicks)!;
    local.touch(nowTicks);
    let failedTicks = nowTicks;
    for (let i = 0; i < 3; i++) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks);
      failedTicks = atTicks;
    }
    expect(local.look(4, failedTicks)).toBe(0);
    local.spend(4, failedTicks);
    expect(buckets.totals().estimatedOvershoot).toBe(4);
  });
});
