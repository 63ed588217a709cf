import { describe, expect, test } from 'vitest';
import type { CalendarPeriod } from '../../../src/store/calendar-period.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StoreTransaction } from '../../../src/store/store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { callsOf } from '@sluice/core/testing';

const HOUR_MS = 3_600_000;
const JULY = Date.parse('2026-07-01T00:00:00Z');

function hourAt(ms: number): CalendarPeriod {
  const start = Math.floor(ms / HOUR_MS) * HOUR_MS;
  return [start, start + HOUR_MS, start + 2 * HOUR_MS];
}

/** One of ten a hour. */
function hourly(id: string, ms: number, cost = 1, limit = 'Hourly'): StoreTransaction {
  return { limit, id, incrementTicks: cost, fitTicks: 10, capTicks: 10, mode: 'check-and-spend', period: hourAt(ms) };
}

/** One of ten at once, one an hour. */
function rate(id: string, cost = 1, limit = 'Rate'): StoreTransaction {
  const hour = HOUR_MS * 16_000;
  const mode = 'check-and-spend';
  return { limit, id, incrementTicks: cost * hour, fitTicks: 10 * hour, capTicks: 10 * hour, mode };
}

function storeAt(wallMs: number, maxKeys = 1000) {
  const time = new FakeTime();
  time.setWall(wallMs);
  return { time, store: memoryStore({ maxKeys, time }) };
}

describe('buckets with a calendar period in memory', () => {
  test('are swept half a minute after their period, those of rates when they are full', () => {
    const { time, store } = storeAt(JULY + HOUR_MS - 1000);
    for (let id = 0; id < 50; id++) callsOf(store).spend([hourly(`${id}`, JULY), rate(`${id}`)]);
    const sizes = () => Object.values(store.stats().limits).map(({ size }) => size);
    const sweep = () => {
      for (let call = 0; call < 1200; call++) callsOf(store).check([rate('other')]);
    };
    time.advance(31_000 - 0.001);
    sweep();
    expect(sizes()).toEqual([50, 50]);
    time.advance(2);
    sweep();
    expect(sizes()).toEqual([50]);
    expect(Object.keys(store.stats().limits)).toEqual(['Rate']);
    time.advance(HOUR_MS);
    sweep();
    expect(store.stats()).toMatchObject({ size: 0, swept: 100 });
  });

  test('follow the wall clock, and rates the monotonic one, when the wall clock is set', () => {
    const { time, store } = storeAt(JULY);
    callsOf(store).spend([hourly('id', JULY, 10), rate('id', 10)]);
    time.setWall(JULY + HOUR_MS);
    expect(callsOf(store).check([hourly('id', JULY), rate('id')]).levelsTicks).toEqual([0, 10 * HOUR_MS * 16_000]);
    time.setWall(JULY);
    expect(callsOf(store).check([hourly('id', JULY), rate('id')]).levelsTicks).toEqual([10, 10 * HOUR_MS * 16_000]);
  });

  test.each([
    ['1970', 0],
    ['1970, and is set right later', 0, JULY],
    ['2100', Date.UTC(2100, 0, 1)],
  ])('count exactly when the wall clock shows %s', (_, firstMs, thenMs = firstMs) => {
    const { time, store } = storeAt(firstMs);
    callsOf(store).spend([hourly('id', firstMs)]);
    time.setWall(thenMs);
    const before = firstMs === thenMs ? 1 : 0;
    const big = { ...hourly('id', thenMs), fitTicks: 1e9, capTicks: 1e9 };
    expect(callsOf(store).spend([{ ...big, incrementTicks: 1e9 - 2 }]).levelsTicks).toEqual([before]);
    expect(callsOf(store).spend([big]).levelsTicks).toEqual([1e9 - 2 + before]);
    expect(callsOf(store).check([big]).levelsTicks).toEqual([1e9 - 1 + before]);
  });

  test('lose the one that is full soonest when the store is full, and report its debt in time', () => {
    const { store } = storeAt(JULY, 20);
    const used = Array.from({ length: 20 }, (_, id) => hourly(`${id}`, JULY, id < 10 ? 9 : 10));
    callsOf(store).spend(used);
    callsOf(store).spend([hourly('new', JULY, 10)]);
    const { levelsTicks } = callsOf(store).check(used);
    expect(levelsTicks.filter((level) => level === 0)).toHaveLength(1);
    expect(levelsTicks.slice(10)).toEqual(Array(10).fill(10));
    const { evicted, evictedDebtMs } = store.stats().limits.Hourly ?? {};
    expect(evicted).toBe(1);
    expect(evictedDebtMs).toBeCloseTo(HOUR_MS, 1);
  });

  test('are evicted beside rates from whichever limit has more', () => {
    const { store } = storeAt(JULY, 20);
    for (let id = 0; id < 5; id++) callsOf(store).spend([rate(`${id}`, 10)]);
    for (let id = 0; id < 100; id++) callsOf(store).spend([hourly(`${id}`, JULY)]);
    expect(store.stats().limits).toMatchObject({ Rate: { size: 5, evicted: 0 }, Hourly: { size: 15, evicted: 85 } });
  });

  test('are apart from those of a rate with the same limit and id, and a reset without a calendar deletes both', () => {
    const { time, store } = storeAt(JULY);
    const batches = [[hourly('id', JULY, 3, 'Both')], [rate('id', 4, 'Both')], [rate('other', 5, 'Both')]];
    for (const batch of batches) callsOf(store).spend(batch);
    const levels = () => batches.map((batch) => callsOf(store).check(batch).levelsTicks[0]);
    const hour = HOUR_MS * 16_000;
    expect(levels()).toEqual([3, 4 * hour, 5 * hour]);
    expect(store.stats().limits).toEqual({ Both: { size: 3, evicted: 0, evictedDebtMs: 0 } });
    callsOf(store).reset([{ limit: 'Both', id: 'id' }]);
    expect(levels()).toEqual([0, 0, 5 * hour]);
    time.advance(2 * HOUR_MS);
    for (let call = 0; call < 1200; call++) callsOf(store).check([rate('any')]);
    expect(callsOf(store).check([rate('other', 1, 'Both')]).levelsTicks).toEqual([3 * hour]);
  });

  test('survive the growth of their table', () => {
    const { store } = storeAt(JULY, 100_000);
    for (let id = 0; id < 20_000; id++) callsOf(store).spend([hourly(`${id}`, JULY, 1 + (id % 10))]);
    let wrong = 0;
    for (let id = 0; id < 20_000; id++) {
      if (callsOf(store).check([hourly(`${id}`, JULY)]).levelsTicks[0] !== 1 + (id % 10)) wrong++;
    }
    expect(wrong).toBe(0);
  });

  test('count as empty when the clock was far ahead and the period of their count is not known', () => {
    const { time, store } = storeAt(JULY + 400 * 24 * HOUR_MS);
    const far = JULY + 400 * 24 * HOUR_MS;
    callsOf(store).spend([hourly('id', far, 3), hourly('untouched', far, 3)]);
    time.setWall(far + HOUR_MS);
    callsOf(store).spend([hourly('later', far + HOUR_MS, 2)]);
    time.setWall(JULY);
    expect(callsOf(store).check([hourly('id', JULY), hourly('later', JULY)]).levelsTicks).toEqual([10, 2]);
    // A refund does not name the size of a bucket, so it leaves the mending to the next look.
    const refund = { limit: 'Hourly', id: 'untouched', incrementTicks: 1, period: hourAt(JULY) };
    expect(callsOf(store).refund([refund]).levelsTicks[0]).toBeGreaterThan(10);
    expect(callsOf(store).check([hourly('untouched', JULY)]).levelsTicks).toEqual([10]);
  });

  test.each(['spend', 'charge'] as const)(
    'are read by a %s with their ends, though a listener calls the store',
    (call) => {
      const { store } = storeAt(JULY, 20);
      let reports = 0;
      store.watch(() => {
        reports++;
        callsOf(store).check([rate('any')]);
      });
      for (let id = 0; id < 18; id++) callsOf(store).spend([rate(`${id}`)]);
      expect(callsOf(store)[call]([hourly('id', JULY)]).bucketNowTicks).toEqual([(JULY + HOUR_MS) * 2048]);
      expect(reports).toBe(1);
    },
  );

  test('are read at one time of the wall clock in all alternatives of a call', () => {
    const { time, store } = storeAt(JULY);
    callsOf(store).spend([hourly('used', JULY, 10)]);
    let readings = 0;
    time.wallNow = () => JULY + readings++;
    const alternatives = [[hourly('used', JULY)], [hourly('id', JULY)]];
    const [first, second] = callsOf(store)
      .spendFirst(alternatives)
      .map(({ bucketWallMs }) => bucketWallMs);
    expect(second).toEqual(first);
  });
});
