import { describe, expect, test } from 'vitest';
import { LeasedBuckets } from '../../../src/leases/rules/leased-buckets.ts';
import type { LeasedBucket } from '../../../src/leases/rules/leased-bucket.ts';
import { answer, named, SYNC, TERMS, TICKS_PER_MS, TOKEN } from '../support/leased.ts';

const NOW = 1000 * TICKS_PER_MS;
const LATER = NOW + SYNC + 1;

function makeBuckets(maxKeys = 1000) {
  return new LeasedBuckets({ maxKeys, syncTicks: SYNC, pace: 1, streamKey: (tag) => `{${tag}}:seq` });
}

/** Adds a bucket, or uses one that there is. */
function add(buckets: LeasedBuckets, id: string, nowTicks: number, tag = '') {
  const bucket = buckets.find(named(id, tag));
  if (bucket !== undefined) bucket.usedAtTicks = nowTicks;
  return bucket ?? buckets.add(named(id, tag), TERMS, nowTicks);
}

describe('the buckets of a process', () => {
  test('are the same for the same key', () => {
    const buckets = makeBuckets();
    const bucket = add(buckets, 'a', NOW);
    expect(add(buckets, 'a', NOW)).toBe(bucket);
    expect(buckets.size).toBe(1);
  });

  test('are those of a limit and an id, without a calendar and without slots', () => {
    const buckets = makeBuckets();
    const bucket = add(buckets, 'a', NOW);
    expect(buckets.find({ limit: 'Calls', id: 'a' })).toBe(bucket);
    expect(buckets.find({ limit: 'Other', id: 'a' })).toBeUndefined();
    expect(buckets.find({ limit: 'Calls', id: 'a', calendar: 'UTC' })).toBeUndefined();
    expect(buckets.find({ limit: 'Calls', id: 'a', slots: true })).toBeUndefined();
  });

  test('are synced by one stream for each tag', () => {
    const buckets = makeBuckets();
    for (let i = 0; i < 251; i++) add(buckets, `a${i}`, NOW, 'x');
    add(buckets, 'b', NOW, 'y');
    expect(buckets.streams.map((stream) => [stream.key, stream.buckets.length])).toEqual([
      ['{x}:seq', 251],
      ['{y}:seq', 1],
    ]);
  });

  test('are decided strictly beyond their largest number', () => {
    const buckets = makeBuckets(2);
    for (const key of ['a', 'b']) add(buckets, key, NOW)!.tatTicks = Infinity;
    expect(add(buckets, 'c', LATER)).toBeUndefined();
    expect(add(buckets, 'a', LATER)).toBeDefined();
  });

  test('make room for new ones as they come to rest', () => {
    const buckets = makeBuckets(2);
    const first = add(buckets, 'a', NOW)!;
    add(buckets, 'b', NOW)!.tatTicks = Infinity;
    expect(add(buckets, 'c', LATER)).toBeDefined();
    expect(first.isDropped).toBe(true);
    expect(buckets.size).toBe(2);
    expect(buckets.streams.at(0)!.buckets.map(({ key }) => key)).toEqual(['b', 'c']);
  });

  test('are kept while a batch that has asked for them is decided', () => {
    const buckets = makeBuckets();
    const first = add(buckets, 'a', NOW)!;
    add(buckets, 'b', NOW);
    expect(add(buckets, 'a', NOW)).toBe(first);
    expect(first.isDropped).toBe(false);
  });

  test.each([
    {
      used: 'up to half of the burst with the overdraft',
      tokens: TERMS.burst / 2 - TERMS.overdraftTokens,
      isDropped: true,
    },
    { used: 'more', tokens: TERMS.burst / 2 - TERMS.overdraftTokens + 1, isDropped: false },
  ])('are dropped when their view has been answered and they are used $used: $isDropped', ({ tokens, isDropped }) => {
    const buckets = makeBuckets();
    const first = add(buckets, 'a', NOW)!;
    first.tatTicks = LATER + tokens * TOKEN;
    add(buckets, 'b', LATER);
    expect(first.isDropped).toBe(isDropped);
  });

  test.each([
    ['a view of a bucket that is used up', { tatTicks: LATER + TERMS.burst * TOKEN }],
    ['an outage that others have not reported yet', { calmUntilTicks: LATER + 1 }],
    ['a request to their stream', { isPending: true }],
  ])('are kept with %s', (_, state) => {
    const buckets = makeBuckets();
    const bucket = Object.assign(add(buckets, 'a', NOW)!, state);
    buckets.sweep(10, LATER);
    expect(bucket.isDropped).toBe(false);
  });

  test('are kept with a charge that Redis has not counted, until it has', () => {
    const buckets = makeBuckets();
    const bucket = add(buckets, 'a', NOW)!;
    bucket.charge(1, NOW);
    const stream = buckets.streams.at(0)!;
    const call = stream.nextCall(stream.nextTicks)!;
    buckets.sweep(10, LATER + TOKEN);
    expect(bucket.isDropped).toBe(false);
    const synced = { levelTicks: 0, keptFloor: true, grantedTokens: 0 };
    stream.answered(call, { nowTicks: LATER, fresh: true, lost: false, buckets: [synced] }, LATER);
    buckets.sweep(10, LATER + TOKEN);
    expect(bucket.isDropped).toBe(true);
  });

  /** Asks each bucket for a token, and lets all be synced. Returns the moment of the last answer. */
  function askAndSync(buckets: LeasedBuckets, asked: readonly LeasedBucket[], nowTicks: number): number {
    for (const bucket of asked) {
      bucket.look(1, nowTicks);
      bucket.spend(1, nowTicks);
    }
    const stream = buckets.streams.at(0)!;
    let atTicks = nowTicks;
    while (stream.nextTicks < Infinity && asked.some(({ uncharged }) => !uncharged.isEmpty)) {
      atTicks = Math.max(atTicks, stream.nextTicks);
      const call = stream.nextCall(atTicks)!;
      atTicks += TICKS_PER_MS;
      answer(stream, call, atTicks, { levelTicks: TOKEN });
    }
    return atTicks;
  }

  test('are dropped with their first answer if they were asked for only once, for one token', () => {
    const buckets = makeBuckets();
    const [once, twice, kept] = [add(buckets, 'once', NOW)!, add(buckets, 'twice', NOW)!, add(buckets, 'kept', NOW)!];
    twice.look(1, NOW);
    twice.spend(1, NOW);
    // A batch has it.
    kept.usedByWaiting++;
    askAndSync(buckets, [once, twice, kept], NOW);
    expect([once, twice, kept].map((bucket) => bucket.isDropped)).toEqual([true, false, false]);
    expect(buckets.streams.at(0)!.buckets).toEqual([kept, twice]);
  });

  test('are kept when their id was asked for shortly before', () => {
    const buckets = makeBuckets();
    const answered = askAndSync(buckets, [add(buckets, 'a', NOW)!], NOW);
    expect(buckets.size).toBe(0);
    const again = add(buckets, 'a', answered)!;
    askAndSync(buckets, [again], answered);
    expect(again.isDropped).toBe(false);
  });

  test('are synced at once when so many new ones were asked for that they fill a call', () => {
    const buckets = makeBuckets();
    const asked = Array.from({ length: 250 }, (_, i) => add(buckets, `a${i}`, NOW)!);
    const last = asked.pop()!;
    for (const bucket of asked) bucket.charge(1, NOW);
    const stream = buckets.streams.at(0)!;
    expect(stream.nextTicks).toBeGreaterThan(NOW + TICKS_PER_MS);
    last.charge(1, NOW);
    expect(stream.nextTicks).toBe(NOW);
    expect(stream.nextCall(NOW)!.entries).toHaveLength(250);
  });

  test('leave nothing of 6,000 tags that are not used any more, and a tag that comes back counts its syncs on', () => {
    const buckets = makeBuckets(10_000);
    const synced = { levelTicks: 0, keptFloor: true, grantedTokens: 0 };
    const sync = (tag: string, nowTicks: number) => {
      const bucket = add(buckets, `id of ${tag}`, nowTicks, tag)!;
      bucket.touch(nowTicks);
      const stream = buckets.streams.find((each) => each === bucket.stream)!;
      const call = stream.nextCall(nowTicks + SYNC)!;
      stream.answered(call, { nowTicks, fresh: true, lost: false, buckets: [synced] }, nowTicks + SYNC);
      return call;
    };
    for (let i = 0; i < 6000; i++) sync(`t${i}`, NOW);
    expect(sync('t7', NOW + SYNC)).toMatchObject({ sequence: 2, answeredSequence: 1 });
    buckets.sweep(20_000, NOW + 3 * SYNC);
    // A stream may be needed again soon.
    expect([buckets.size, buckets.streams.length]).toEqual([0, 6000]);
    const idle = NOW + 200_000 * TICKS_PER_MS;
    buckets.sweep(20_000, idle);
    expect(buckets.streams).toEqual([]);
    // Redis may still have a key of that name, with a number up to 2.
    expect(sync('t7', idle)).toMatchObject({ sequence: 3, answeredSequence: 0 });
    expect(buckets.streams.map(({ key }) => key)).toEqual(['{t7}:seq']);
  });

  test('keep their stream while a sync of it is not answered', () => {
    const buckets = makeBuckets();
    const { stream } = add(buckets, 'a', NOW, 'x')!;
    stream.request(add(buckets, 'a', NOW, 'x')!, NOW);
    add(buckets, 'a', NOW, 'x')!.isTouched = true;
    const call = buckets.streams.at(0)!.nextCall(LATER)!;
    buckets.streams.at(0)!.failed(call, LATER);
    buckets.sweep(10, NOW + 1e6 * TICKS_PER_MS);
    expect([buckets.size, buckets.streams.length]).toEqual([0, 1]);
  });

  test('are looked at in turn, so that each is reached', () => {
    const buckets = makeBuckets();
    for (let i = 0; i < 600; i++) add(buckets, `a${i}`, NOW);
    for (let i = 0; i < 700; i++) buckets.sweep(1, LATER);
    expect(buckets.size).toBe(0);
  });
});
