import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { DenialCache, cacheDenials, cacheRefunds } from '../../src/batches/denial-cache.ts';
import { joinAlternatives } from '../../src/batches/alternatives.ts';
import type { BatchRequest } from '../../src/batches/batch-request.ts';
import { BURST, isAllowed, order, TOKEN_TICKS } from '../support/orders.ts';

const FULL_TICKS = BURST * TOKEN_TICKS;

function known(forMs = 1000) {
  const time = new FakeTime();
  const levels = new DenialCache(forMs, time);
  const note = (keys: string[], ...levelsTicks: number[]) =>
    levels.add({ keys, batch: keys.map(() => ({})) }, { nowTicks: 1_000_000, levelsTicks }, time.nowMicros());
  return { time, levels, note };
}

describe('the levels of denied batches', () => {
  test('deny the same batch, with figures that count down as time passes', () => {
    const { time, levels, note } = known();
    note(['a'], FULL_TICKS);
    time.advance(250);
    const passedTicks = 250 * 16_000;
    expect(levels.findDenial([order('a')], ['a'])).toEqual({
      passed: -1,
      nowTicks: 1_000_000 + passedTicks,
      levelsTicks: [FULL_TICKS - passedTicks],
      bucketNowTicks: [1_000_000 + passedTicks],
      remembered: true,
    });
  });

  test('deny any batch with such a bucket, whatever else it contains', () => {
    const { levels, note } = known();
    note(['a', 'b'], 4 * TOKEN_TICKS, 0);
    expect(levels.findDenial([order('b'), order('a', 2)], ['b', 'a'])?.levelsTicks).toEqual([0, 4 * TOKEN_TICKS]);
    expect(levels.findDenial([order('a', 3, 'check-only')], ['a'])).toBeDefined();
  });

  test('never let a batch pass: what may fit is sent to the server', () => {
    const { levels, note } = known();
    note(['a'], 4 * TOKEN_TICKS);
    expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
    expect(levels.findDenial([order('a', 2, 'spend-only')], ['a'])).toBeUndefined();
  });

  test('let a batch be sent at the moment when it fits, and not a microsecond sooner', () => {
    const { time, levels, note } = known();
    note(['a'], 4 * TOKEN_TICKS + 16_000);
    time.advance(0.999);
    expect(levels.findDenial([order('a')], ['a'])).toBeDefined();
    time.advance(0.001);
    expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
  });

  test('are cached for as long as was set, and no longer', () => {
    const { time, levels, note } = known(500);
    note(['a'], FULL_TICKS);
    time.advance(499.999);
    expect(levels.findDenial([order('a')], ['a'])).toBeDefined();
    time.advance(0.001);
    expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
    expect(levels.size).toBe(0);
  });

  test('are not cached at all when that is 0', () => {
    const { levels, note } = known(0);
    note(['a'], FULL_TICKS);
    expect(levels.size).toBe(0);
  });

  describe('of an answer that was on its way for 400 ms', () => {
    const WAY_TICKS = 400 * 16_000;

    /** The levels, 400 ms after they were asked for. */
    function late(...levelsTicks: number[]) {
      const { time, levels } = known();
      const sentMicros = time.nowMicros();
      time.advance(400);
      levels.add({ keys: ['a', 'b'], batch: [{}, {}] }, { nowTicks: 1_000_000, levelsTicks }, sentMicros);
      return { time, levels };
    }

    test('count down from the moment when it came: the server may have read its clock only then', () => {
      const { time, levels } = late(FULL_TICKS);
      expect(levels.findDenial([order('a')], ['a'])).toMatchObject({ nowTicks: 1_000_000, levelsTicks: [FULL_TICKS] });
      time.advance(250);
      const passedTicks = 250 * 16_000;
      expect(levels.findDenial([order('a')], ['a'])).toMatchObject({
        nowTicks: 1_000_000 + passedTicks,
        levelsTicks: [FULL_TICKS - passedTicks],
        bucketNowTicks: [1_000_000 + passedTicks],
      });
    });

    test('let a batch be sent as if the server had read its clock when it was sent, and no later', () => {
      const { time, levels } = late(4 * TOKEN_TICKS + WAY_TICKS + 16_000);
      time.advance(0.999);
      expect(levels.findDenial([order('a')], ['a'])?.levelsTicks[0]).toBeGreaterThan(4 * TOKEN_TICKS + WAY_TICKS);
      time.advance(0.001);
      expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
    });

    test('are cached for a second from then on', () => {
      const { time, levels } = late(FULL_TICKS);
      time.advance(599.999);
      expect(levels.findDenial([order('a')], ['a'])).toBeDefined();
      time.advance(0.001);
      expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
    });

    test('deny a batch with figures that deny it too', () => {
      // By the earliest clock b fits already, by the latest it does not. It is a that denies.
      const { levels } = late(FULL_TICKS, 4 * TOKEN_TICKS + WAY_TICKS / 2);
      const batch = [order('a'), order('b')];
      const told = levels.findDenial(batch, ['a', 'b'])!;
      expect(told).toMatchObject({ passed: -1, levelsTicks: [FULL_TICKS, 4 * TOKEN_TICKS + WAY_TICKS / 2] });
      expect(isAllowed(batch, told)).toBe(false);
    });
  });

  test('have no answer for a batch with a bucket that is not cached', () => {
    const { levels, note } = known();
    note(['a'], FULL_TICKS);
    expect(levels.findDenial([order('a'), order('b')], ['a', 'b'])).toBeUndefined();
  });

  test('deny a bucket whose level is above the current burst, because other numbers were used on it', () => {
    const { levels, note } = known();
    note(['a'], FULL_TICKS + 1);
    expect(levels.findDenial([order('a')], ['a'])?.levelsTicks).toEqual([FULL_TICKS + 1]);
  });

  test('a level that has passed is 0', () => {
    const { time, levels, note } = known();
    note(['a', 'b'], FULL_TICKS, 16);
    time.advance(1 / 1000);
    time.advance(500);
    expect(levels.findDenial([order('a'), order('b')], ['a', 'b'])?.levelsTicks[1]).toBe(0);
  });

  test('are kept of 10,000 buckets: those read longest ago go first', () => {
    const { levels, note } = known();
    for (let i = 0; i < 10_000; i++) note([`${i}`], FULL_TICKS);
    note(['0'], FULL_TICKS);
    note(['new'], FULL_TICKS);
    const isKnown = (key: string) => levels.findDenial([order(key)], [key]) !== undefined;
    expect(levels.size).toBe(10_000);
    expect(['0', '1', '2', 'new'].map(isKnown)).toEqual([true, false, true, true]);
  });

  test('are forgotten one by one', () => {
    const { levels, note } = known();
    levels.forget(['a']);
    note(['a', 'b'], FULL_TICKS, FULL_TICKS);
    levels.forget(['a']);
    expect(levels.findDenial([order('a')], ['a'])).toBeUndefined();
    expect(levels.findDenial([order('b')], ['b'])).toBeDefined();
  });
});

describe('alternatives', () => {
  const parts = (...keys: string[]) =>
    ({ kind: 'spend', batch: keys.map((id) => order(id)), keys, deadlineMs: 50 }) as const;

  test('are denied when the levels deny each of them, and not when one may pass', () => {
    const { levels, note } = known();
    note(['a', 'b', 'c'], FULL_TICKS, FULL_TICKS, 0);
    expect(levels.findDenials([parts('a'), parts('c', 'b')])).toMatchObject({
      passed: -1,
      levelsTicks: [FULL_TICKS, 0, FULL_TICKS],
      remembered: true,
    });
    expect(levels.findDenials([parts('a'), parts('c')])).toBeUndefined();
    expect(levels.findDenials([parts('a'), parts('not known')])).toBeUndefined();
    expect(levels.findDenials([parts('a'), parts()])).toBeUndefined();
  });

  test('that were answered are noted when they were denied, and let go when they took', () => {
    const { levels, note } = known();
    note(['skipped'], FULL_TICKS);
    const alternatives = [parts('a'), parts('b', 'a'), parts('b'), parts('skipped')];
    const request = joinAlternatives(alternatives) as BatchRequest;
    const levelsTicks = [FULL_TICKS, 0, FULL_TICKS, 0];
    cacheDenials(levels).onAnswer(request, { passed: 2, nowTicks: 0, levelsTicks }, 0);
    const isKnown = (key: string) => levels.findDenial([order(key, BURST)], [key]) !== undefined;
    note(['other'], 0);
    expect(['a', 'b', 'skipped'].map(isKnown)).toEqual([true, false, true]);
    expect(levels.size).toBe(3);
  });
});

describe('a batch that was answered', () => {
  const reading = (levelTicks: number) => ({
    passed: levelTicks === 0 ? 0 : -1,
    nowTicks: 0,
    levelsTicks: [levelTicks],
  });
  const request = (kind: BatchRequest['kind']) =>
    ({ kind, batch: [order('a')], keys: ['a'] }) as unknown as BatchRequest;

  test('is remembered when it was denied, and forgotten when it took from the buckets', () => {
    const { levels } = known();
    cacheDenials(levels).onAnswer(request('spend'), reading(FULL_TICKS), 0);
    expect(levels.size).toBe(1);
    cacheDenials(levels).onAnswer(request('spend'), reading(0), 0);
    expect(levels.size).toBe(0);
  });

  test.each(['charge', 'refund', 'reset'] as const)('by a %s is forgotten', (kind) => {
    const { levels, note } = known();
    note(['a'], FULL_TICKS);
    cacheDenials(levels).onAnswer(request(kind), reading(FULL_TICKS), 0);
    expect(levels.size).toBe(0);
  });

  test('by a check changes nothing', () => {
    const { levels, note } = known();
    note(['a'], FULL_TICKS);
    cacheDenials(levels).onAnswer(request('check'), reading(0), 0);
    expect(levels.size).toBe(1);
  });

  test('that failed is forgotten, because the state of its buckets is unknown', () => {
    const { levels, note } = known();
    for (const observer of [cacheDenials(levels), cacheRefunds(levels)]) {
      note(['a'], FULL_TICKS);
      observer.onFailure(request('spend'));
      expect(levels.size).toBe(0);
    }
  });

  test('and was a part that gave back what it had taken, is noted', () => {
    const { levels } = known();
    cacheRefunds(levels).onAnswer(request('refund'), reading(FULL_TICKS), 0);
    expect(levels.size).toBe(1);
  });
});

describe('the levels of buckets with a calendar period', () => {
  const EPOCH_MS = Date.UTC(2026, 0, 1);
  const HOUR_MS = 3_600_000;
  const endTicks = HOUR_MS * 16_000;
  const period = [EPOCH_MS, EPOCH_MS + HOUR_MS, EPOCH_MS + 2 * HOUR_MS] as const;
  const call = (cost = 1) => ({ ...order('a', cost), incrementTicks: cost, fitTicks: 5, capTicks: 5, period });

  /** An empty bucket, some milliseconds before the end of the period. The call took 2 ms. */
  function emptyBefore(leftMs: number) {
    const time = new FakeTime(100);
    const levels = new DenialCache(1000, time);
    const wallMs = EPOCH_MS + HOUR_MS - leftMs;
    const nowTicks = endTicks - leftMs * 16_000;
    levels.add(
      { keys: ['a', 'rate'], batch: [{}, {}] },
      { nowTicks, levelsTicks: [5, 0], bucketNowTicks: [endTicks, nowTicks], bucketWallMs: [wallMs, undefined] },
      time.nowMicros() - 2000,
    );
    return { time, levels, wallMs, nowTicks };
  }

  test('do not fall, and are returned with the end of the period and the wall clock', () => {
    const { time, levels, wallMs, nowTicks } = emptyBefore(500);
    time.advance(250.5);
    expect(levels.findDenial([order('rate'), call()], ['rate', 'a'])).toEqual({
      passed: -1,
      nowTicks: nowTicks + 250.5 * 16_000,
      levelsTicks: [0, 5],
      bucketNowTicks: [nowTicks + 250.5 * 16_000, endTicks],
      bucketWallMs: [undefined, wallMs + 250],
      remembered: true,
    });
    expect(levels.findDenial([call(0)], ['a'])).toBeUndefined();
  });

  test('are known only until the server may have reached the end of the period', () => {
    const { time, levels } = emptyBefore(500);
    time.advance(496.999);
    expect(levels.findDenial([call()], ['a'])).toBeDefined();
    time.advance(0.001);
    expect(levels.findDenial([call()], ['a'])).toBeUndefined();
  });

  test.each([
    ['without a period', { ...call(), period: undefined }],
    ['in another period', { ...call(), period: [period[0], period[1] + 1, period[2]] as const }],
    ['in a stale period', { ...call(), period: [0, 1, 2] as const }],
  ])('are not known for a transaction %s', (_, transaction) => {
    const { levels } = emptyBefore(500);
    expect(levels.findDenial([transaction], ['a'])).toBeUndefined();
  });

  test('are not those of a bucket without a period', () => {
    const { levels } = emptyBefore(500);
    expect(levels.findDenial([call()], ['rate'])).toBeUndefined();
  });
});
