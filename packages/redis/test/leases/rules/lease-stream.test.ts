import { describe, expect, test } from 'vitest';
import { MIN_SYNC_GAP_TICKS } from '../../../src/leases/rules/lease-numbers.ts';
import { Lease } from '../../../src/leases/rules/lease.ts';
import {
  addBucket,
  answer,
  leased,
  makeStream,
  nextCall,
  SERVER_AHEAD,
  SYNC,
  syncedBucket,
  TERMS,
  TICKS_PER_MS,
  TOKEN,
} from '../support/leased.ts';

const SECOND = 1000 * TICKS_PER_MS;

describe('a stream', () => {
  test('has nothing to send for buckets that nobody uses', () => {
    const stream = makeStream();
    addBucket(stream);
    expect(stream.nextTicks).toBe(Infinity);
    expect(stream.nextCall(SECOND)).toBeUndefined();
  });

  test('syncs all buckets of a limit in one call when they are due', () => {
    const stream = makeStream();
    const buckets = ['a', 'b', 'c'].map((key) => addBucket(stream, key));
    for (const [i, bucket] of buckets.entries()) bucket.charge(1, SECOND + i);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect(atTicks - SECOND).toBeLessThanOrEqual(SYNC);
  });

  test('syncs a bucket more often from when its overdraft does not pay for all that is asked for', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    for (const { askedTokens, within } of [
      { askedTokens: 0, within: SYNC },
      { askedTokens: 1, within: TERMS.dueTicks },
    ]) {
      bucket.askedTokens = askedTokens;
      bucket.charge(1, nowTicks);
      expect(bucket.dueTicks % within).toBe(0);
      expect(bucket.dueTicks - nowTicks).toBeLessThanOrEqual(within);
      stream.requestEarly(bucket, nowTicks);
      const { call, atTicks } = nextCall(stream);
      stream.endWait(bucket);
      answer(stream, call, atTicks);
    }
  });

  test('counts its calls from 1, and names the last one that was answered', () => {
    const { stream, bucket } = syncedBucket();
    bucket.touch(2 * SECOND);
    expect(nextCall(stream).call).toMatchObject({ sequence: 2, answeredSequence: 1, streamLifeMs: 600_000 });
  });

  test('does not rely on a call that was answered too long ago: its key may have expired', () => {
    const { stream, bucket } = syncedBucket();
    bucket.touch(700 * SECOND);
    expect(stream.nextCall(701 * SECOND)).toMatchObject({ sequence: 2, answeredSequence: 0 });
  });

  test('that can not sync while its slot is moved leaves its buckets to Redis until it can', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.charge(1, nowTicks);
    const first = nextCall(stream);
    stream.moving(first.call, first.atTicks);
    stream.moving(first.call, first.atTicks);
    expect([stream.isMoving, stream.isOpen, bucket.isLeftToRedis]).toEqual([true, false, true]);
    // What was let through before is charged when it can be.
    const second = nextCall(stream);
    expect(second.atTicks).toBe(first.atTicks + 100 * TICKS_PER_MS);
    expect(second.call).toMatchObject({ sequence: first.call.sequence, entries: [{ chargeTicks: TOKEN }] });
    answer(stream, second.call, second.atTicks);
    expect([stream.isMoving, bucket.isLeftToRedis, bucket.uncharged.isEmpty]).toEqual([false, false, true]);
  });

  test('is not moving any more when Redis does not answer it', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.touch(nowTicks);
    const first = nextCall(stream);
    stream.moving(first.call, first.atTicks);
    for (let i = 0; i < 3; i++) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks);
    }
    expect([stream.isMoving, stream.isOpen]).toEqual([false, true]);
    const last = nextCall(stream);
    stream.moving(last.call, last.atTicks);
    expect([stream.isMoving, stream.isOpen]).toEqual([true, false]);
  });

  test('that moves after an outage goes on to decide locally what Redis has not counted', () => {
    const { stream, bucket, nowTicks } = syncedBucket({ onFailure: 'local' });
    bucket.touch(nowTicks);
    for (let i = 0; i < 3; i++) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks);
    }
    const { call, atTicks } = nextCall(stream);
    bucket.look(1, atTicks);
    bucket.spend(1, atTicks);
    stream.moving(call, atTicks);
    expect(bucket.isLeftToRedis).toBe(false);
    const after = nextCall(stream);
    answer(stream, after.call, after.atTicks);
    expect([bucket.outage, bucket.uncharged.isEmpty]).toEqual([undefined, false]);
  });

  test('has one call in flight, and makes up for what was due meanwhile right after the answer', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.touch(nowTicks);
    const first = nextCall(stream);
    bucket.touch(first.atTicks);
    expect(stream.nextTicks).toBe(Infinity);
    const answered = first.atTicks + 2 * SYNC;
    expect(stream.nextCall(answered)).toBeUndefined();
    answer(stream, first.call, answered);
    expect(stream.nextTicks).toBeLessThan(answered);
    expect(stream.nextCall(answered)!.entries).toHaveLength(1);
  });

  test('is asked early by a request that waits, but not more often than every 5 ms', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.waitingTokens = 3;
    stream.requestEarly(bucket, nowTicks);
    expect(stream.nextTicks).toBe(nowTicks + MIN_SYNC_GAP_TICKS);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(3);
  });

  test('takes only buckets that are due or waited for', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const other = addBucket(stream, 'other');
    other.charge(1, nowTicks);
    stream.requestEarly(bucket, nowTicks);
    expect(nextCall(stream).call.entries.map(({ key }) => key)).toEqual(['bucket']);
  });

  test('syncs 250 in each call if more are due, and each call follows the answer to the one before', () => {
    const stream = makeStream();
    const buckets = Array.from({ length: 20_000 }, (_, i) => addBucket(stream, String(i)));
    for (const bucket of buckets) bucket.charge(1, SECOND);
    let nowTicks = stream.nextTicks;
    const synced: string[] = [];
    for (let calls = 0; calls < 80; calls++) {
      expect(stream.nextTicks).toBeLessThanOrEqual(nowTicks);
      const call = stream.nextCall(nowTicks)!;
      expect(call.entries).toHaveLength(250);
      synced.push(...call.entries.map(({ key }) => key));
      nowTicks += TICKS_PER_MS;
      answer(stream, call, nowTicks);
    }
    expect(synced).toEqual(buckets.map(({ key }) => key));
    expect(stream.nextTicks).toBeGreaterThan(nowTicks + SECOND);
  });

  test('looks at 1,000 buckets for a call, and goes on in the next turn if they have nothing to report', () => {
    const stream = makeStream();
    const buckets = Array.from({ length: 3000 }, (_, i) => addBucket(stream, String(i)));
    const lease = { sentTicks: SECOND, leaseTicks: SECOND };
    for (const bucket of buckets) {
      bucket.viewSequence = 1;
      bucket.addLease(new Lease(1, TOKEN, lease));
      stream.request(bucket, SECOND);
    }
    const dueTicks = stream.nextTicks;
    for (const looked of [1000, 2000]) {
      expect(stream.nextCall(dueTicks)).toBeUndefined();
      expect(stream.nextTicks).toBe(dueTicks);
      expect(buckets.filter((bucket) => bucket.dueTicks > dueTicks)).toHaveLength(looked);
    }
    expect(stream.nextCall(dueTicks)).toBeUndefined();
    expect(stream.nextTicks).toBe(dueTicks + TERMS.dueTicks);
  });

  test('syncs buckets that are awaited first, also while many others are due', () => {
    const stream = makeStream();
    for (let i = 0; i < 1000; i++) addBucket(stream, String(i)).charge(1, SECOND);
    const awaited = addBucket(stream, 'awaited');
    const first = nextCall(stream);
    stream.requestEarly(awaited, first.atTicks);
    answer(stream, first.call, first.atTicks);
    expect(stream.nextCall(first.atTicks)!.entries.at(0)).toMatchObject({ key: 'awaited' });
  });

  test('syncs a bucket that was synced early no second time at its due time', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    stream.requestEarly(bucket, nowTicks);
    const { call, atTicks } = nextCall(stream);
    stream.endWait(bucket);
    answer(stream, call, atTicks);
    expect(atTicks).toBe(nowTicks + MIN_SYNC_GAP_TICKS);
    // Nothing but the call that keeps the stream alive.
    expect(stream.nextTicks).toBe(atTicks + 150 * SECOND);
  });

  test('wants no leases and gives nothing back while it does not know the clock of Redis', () => {
    const stream = makeStream();
    const bucket = addBucket(stream);
    bucket.waitingTokens = 10;
    bucket.uncharged.returnTicks = TOKEN;
    stream.requestEarly(bucket, SECOND);
    const call = stream.nextCall(SECOND)!;
    expect(call).toMatchObject({ latestTicks: 0, answeredSequence: 0 });
    expect(call.entries.at(0)).toMatchObject({ wantedTokens: 0, returnTicks: 0 });
    answer(stream, call, SECOND);
    const next = nextCall(stream);
    expect(next.call.latestTicks).toBe(next.atTicks + SERVER_AHEAD + 100 * TICKS_PER_MS);
    expect(next.call.entries.at(0)).toMatchObject({ wantedTokens: 10, returnTicks: TOKEN });
  });

  test('leases a quarter more than is asked for between two syncs, less what it has', () => {
    const { stream, bucket, nowTicks } = syncedBucket({ fitTicks: 2 * TERMS.fitTicks });
    const now = leased(stream, bucket, 10, nowTicks);
    bucket.askedTokens = 40;
    bucket.touch(now);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)!.wantedTokens).toBe(50 - 10);
    answer(stream, call, atTicks);
    // Without requests, the demand falls to a fifth of what it was: 8 tokens, and a quarter more.
    bucket.leases.forget(Infinity);
    bucket.touch(atTicks);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(10);
  });

  test.each([
    { left: TERMS.burst, wanted: 50 },
    { left: 100, wanted: 25 },
    { left: 0, wanted: 0 },
    { left: -10, wanted: 0 },
  ])('leases at most a quarter of what is left in advance: $wanted of $left', ({ left, wanted }) => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.askedTokens = 40;
    bucket.touch(nowTicks);
    bucket.tatTicks = bucket.dueTicks + (TERMS.burst - left) * TOKEN;
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(wanted);
  });

  test('leases what requests wait for, also from a bucket that is nearly used up', () => {
    const { stream, bucket, nowTicks } = syncedBucket({}, { levelTicks: TERMS.burst * TOKEN });
    bucket.askedTokens = 40;
    bucket.waitingTokens = 3;
    bucket.touch(nowTicks);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(3);
  });

  test('does not take the requests of a longer time for those between two syncs', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.askedTokens = 40;
    bucket.touch(nowTicks);
    const call = stream.nextCall(bucket.dueTicks + TERMS.dueTicks)!;
    expect(call.entries.at(0)!.wantedTokens).toBe(25);
  });

  test.each([
    { lasted: 'half as long as a lease', part: 0.5, wanted: Math.ceil((50 * 0.5 * TERMS.leaseTicks) / TERMS.dueTicks) },
    { lasted: 'six tenths of a lease', part: 0.6, wanted: 0 },
    { lasted: 'longer than a lease', part: 3, wanted: 0 },
  ])('leases what can be spent in time, when the last calls lasted $lasted', ({ part, wanted }) => {
    const { stream, bucket, nowTicks } = syncedBucket({ fitTicks: 2 * TERMS.fitTicks });
    let answeredTicks = nowTicks;
    for (const _ of [1, 2]) {
      bucket.touch(answeredTicks);
      const slow = nextCall(stream);
      answeredTicks = slow.atTicks + part * TERMS.leaseTicks;
      answer(stream, slow.call, answeredTicks);
    }
    bucket.askedTokens = 40;
    bucket.touch(answeredTicks);
    expect(stream.nextCall(bucket.dueTicks)!.entries.at(0)!.wantedTokens).toBe(wanted);
  });

  test('leases as before after one late answer', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.touch(nowTicks);
    const slow = nextCall(stream);
    answer(stream, slow.call, slow.atTicks + TERMS.leaseTicks);
    bucket.askedTokens = 40;
    bucket.touch(slow.atTicks + TERMS.leaseTicks);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(50);
  });

  test('never wants more than the burst', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.waitingTokens = 1e6;
    bucket.touch(nowTicks);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(TERMS.burst);
  });

  test('leases nothing for a few requests', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.askedTokens = 7;
    bucket.touch(nowTicks);
    expect(nextCall(stream).call.entries.at(0)!.wantedTokens).toBe(0);
  });

  test('gives back what is left of a lease, also of a bucket that nobody uses any more', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    leased(stream, bucket, 50, nowTicks);
    // After the lease has lapsed, at the next due time.
    const calls = [1, 2, 3, 4].map(() => stream.nextCall(stream.nextTicks));
    const returnTicks = calls.find((call) => call !== undefined)?.entries.at(0)?.returnTicks;
    expect(returnTicks).toBeGreaterThan(0);
    expect(returnTicks).toBeLessThan(50 * TOKEN);
    expect(bucket.leases.isEmpty).toBe(true);
  });

  test('gives nothing back after somebody has lowered the TAT', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    const now = leased(stream, bucket, 50, nowTicks);
    bucket.touch(now);
    const { call, atTicks } = nextCall(stream);
    answer(stream, call, atTicks, { keptFloor: false });
    bucket.touch(atTicks + TERMS.leaseTicks);
    expect(stream.nextCall(atTicks + TERMS.leaseTicks + TERMS.dueTicks)!.entries.at(0)!.returnTicks).toBe(0);
  });

  test('keeps itself alive every 150 s while a view lies ahead, without any bucket', () => {
    const { stream, nowTicks } = syncedBucket({}, { levelTicks: 1000 * SECOND });
    expect(stream.nextTicks).toBe(nowTicks + 150 * SECOND);
    expect(stream.nextCall(nowTicks + 150 * SECOND)).toMatchObject({ sequence: 2, entries: [] });
  });

  test('makes no call when no view lies ahead', () => {
    const { stream, nowTicks } = syncedBucket();
    expect(stream.nextCall(nowTicks + 150 * SECOND)).toBeUndefined();
    expect(stream.nextTicks).toBe(nowTicks + 300 * SECOND);
  });
});

describe('a call that fails', () => {
  test('is repeated with its number and its charges, without what it gave back and wanted', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.charge(2, nowTicks);
    bucket.uncharged.returnTicks = TOKEN;
    bucket.waitingTokens = 9;
    stream.requestEarly(bucket, nowTicks);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({ returnTicks: TOKEN, wantedTokens: 9 });
    stream.failed(call, atTicks + SYNC);
    bucket.charge(1, atTicks + SYNC);
    const again = nextCall(stream);
    expect(again.call.sequence).toBe(call.sequence);
    expect(again.call.entries).toEqual([
      {
        ...call.entries[0],
        ownLevelTicks: call.entries.at(0)!.ownLevelTicks! - (again.atTicks - atTicks),
        returnTicks: 0,
        wantedTokens: 0,
      },
    ]);
    answer(stream, again.call, again.atTicks, { fresh: false });
    expect(nextCall(stream).call.entries.at(0)).toMatchObject({ chargeTicks: TOKEN });
  });

  test('is not answered any more', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.charge(1, nowTicks);
    const { call, atTicks } = nextCall(stream);
    stream.failed(call, atTicks + SYNC);
    answer(stream, call, atTicks + SYNC, { grantedTokens: 100 });
    expect(bucket.leases.tokens).toBe(0);
    stream.failed(call, atTicks + SYNC);
    expect(nextCall(stream).call.sequence).toBe(call.sequence);
  });

  test('three times in a row opens the breaker, and one answer closes it', () => {
    const { stream, bucket, nowTicks } = syncedBucket();
    bucket.touch(nowTicks);
    for (const isOpen of [false, false, true]) {
      const { call, atTicks } = nextCall(stream);
      stream.failed(call, atTicks + 50 * TICKS_PER_MS);
      expect(stream.isOpen).toBe(isOpen);
    }
    const trial = nextCall(stream);
    answer(stream, trial.call, trial.atTicks);
    expect(stream.isOpen).toBe(false);
  });
});

describe('a proven loss of data', () => {
  test('restores the views that are older than it, and no others', () => {
    const { stream, bucket, nowTicks } = syncedBucket({}, { levelTicks: 10 * SECOND });
    const other = addBucket(stream, 'other');
    other.touch(nowTicks);
    const { call, atTicks } = nextCall(stream);
    expect(call.entries.at(0)).toMatchObject({ key: 'other', lost: false });
    answer(stream, call, atTicks, { lost: true });
    bucket.touch(atTicks);
    other.touch(atTicks);
    const restoring = nextCall(stream);
    const floorTicks = nowTicks + SERVER_AHEAD + 10 * SECOND;
    expect(restoring.call.entries).toMatchObject([
      { key: 'bucket', lost: true, floorTicks },
      { key: 'other', lost: false, floorTicks: 0 },
    ]);
    answer(stream, restoring.call, restoring.atTicks);
    bucket.touch(restoring.atTicks);
    expect(nextCall(stream).call.entries.at(0)!.lost).toBe(false);
  });

  test('is noticed also when the reply that proved it was lost, and the sync was repeated', () => {
    const { stream, bucket, nowTicks } = syncedBucket({}, { levelTicks: 10 * SECOND });
    const other = addBucket(stream, 'other');
    other.touch(nowTicks);
    const { call, atTicks } = nextCall(stream);
    stream.failed(call, atTicks);
    const repeated = nextCall(stream);
    expect(repeated.call.sequence).toBe(call.sequence);
    answer(stream, repeated.call, repeated.atTicks, { fresh: false, lost: true });
    bucket.touch(repeated.atTicks);
    expect(nextCall(stream).call.entries.at(0)).toMatchObject({ key: 'bucket', lost: true });
  });
});
