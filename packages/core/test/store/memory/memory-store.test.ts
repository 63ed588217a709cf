import { describe, expect, test } from 'vitest';
import { charged, fits, levelOf, refunded } from '../../../src/rule/gcra.ts';
import { memoryStore, type MemoryStoreOptions } from '../../../src/store/memory/memory-store.ts';
import type { StoreTransaction } from '../../../src/store/store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { TICKS_PER_MICRO, TICKS_PER_MS } from '../../../src/rule/ticks.ts';
import { numbersFrom } from './numbers.ts';
import { callsOf } from '@sluice/core/testing';
import { sized } from '../../../../../test/sized.ts';

const BURST = 10;
/** How many calls are made until the ids come again. */
const TIDE = sized(15_000, 50_000);
const T = 1000 * TICKS_PER_MS;

function transaction(
  id: string,
  cost: number,
  mode: StoreTransaction['mode'] = 'check-and-spend',
  limit = 'Orders',
): StoreTransaction {
  return { limit, id, incrementTicks: cost * T, fitTicks: BURST * T, capTicks: BURST * T, mode };
}

describe('a memory store', () => {
  test('decides like one number per key in a plain map, however it grows, sweeps and shrinks', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    const tats = new Map<string, number>();
    const random = numbersFrom(1);
    let wrong = 0;
    let most = 0;

    // A tide of ids: thousands are in debt at a time, then hardly any, then thousands again.
    for (let step = 0; step < 3 * TIDE; step++) {
      time.advance(step % TIDE < 0.6 * TIDE ? random() * 0.1 : random() * 10);
      const id = `id${Math.floor(random() * 0.4 * TIDE)}`;
      const cost = Math.floor(random() * (BURST + 1));
      const call = random();
      const now = time.nowMicros() * TICKS_PER_MICRO;
      const before = levelOf(tats.get(id) ?? 0, now);
      if (call < 0.8) {
        if (callsOf(store).spend([transaction(id, cost)]).levelsTicks[0] !== before) wrong++;
        if (fits(before, cost * T, BURST * T)) tats.set(id, now + before + cost * T);
      } else {
        const charging = call < 0.9;
        const after = charging ? charged(before, cost * T, BURST * T) : refunded(before, cost * T);
        const reading = charging
          ? callsOf(store).charge([transaction(id, cost)])
          : callsOf(store).refund([transaction(id, cost)]);
        if (reading.levelsTicks[0] !== after) wrong++;
        tats.set(id, now + after);
      }
      most = Math.max(most, store.stats().size);
    }

    expect(wrong).toBe(0);
    expect(most).toBeGreaterThan(TIDE / 5);
    expect(store.stats().size).toBeLessThan(0.16 * TIDE);
  });

  test('allocates no memory for buckets when it is new, and reports its contents', () => {
    const limits = {};
    const none = { size: 0, maxKeys: 7, evicted: 0, swept: 0, bytes: 0, limits, slots: {} };
    expect(memoryStore({ maxKeys: 7 }).stats()).toEqual(none);
    const store = memoryStore();
    callsOf(store).spend([transaction('a', 1), transaction('b', 1)]);
    expect(store.stats()).toMatchObject({ size: 2, maxKeys: 1_000_000, evicted: 0, swept: 0, bytes: 1032 });
  });

  test('reports its contents and evictions for each limit', () => {
    const time = new FakeTime();
    const store = memoryStore({ maxKeys: 5, time });
    const mail = (id: string, cost: number) => transaction(id, cost, 'check-and-spend', 'Mails');
    callsOf(store).spend([transaction('a', 1), transaction('b', BURST)]);
    for (const id of ['a', 'b', 'c', 'd', 'e']) callsOf(store).spend([mail(id, 2)]);
    expect(store.stats()).toMatchObject({
      size: 5,
      evicted: 2,
      limits: {
        Orders: { size: 2, evicted: 0, evictedDebtMs: 0 },
        Mails: { size: 3, evicted: 2, evictedDebtMs: 2000 },
      },
    });
    callsOf(store).reset([
      mail('e', 0),
      mail('not there', 0),
      transaction('a', 0),
      transaction('x', 0, 'check-only', 'Nowhere'),
    ]);
    expect(Object.keys(store.stats().limits)).toEqual(['Orders', 'Mails']);
    expect(store.stats().limits).toMatchObject({ Orders: { size: 1 } });
  });

  test('keeps one id of several limits apart, also in one batch', () => {
    const store = memoryStore({ time: new FakeTime() });
    const of = (limit: string, cost: number) => transaction('id', cost, 'check-and-spend', limit);
    const batch = [of('A', 1), of('B', 2), of('C', 3)];
    callsOf(store).spend(batch);
    callsOf(store).spend([of('B', 2)]);
    expect(callsOf(store).check(batch).levelsTicks).toEqual([T, 4 * T, 3 * T]);
    callsOf(store).reset([of('C', 0)]);
    expect(callsOf(store).check(batch).levelsTicks).toEqual([T, 4 * T, 0]);
  });

  test('takes the first buckets of a limit that has none, two of them in one batch', () => {
    const store = memoryStore({ time: new FakeTime() });
    const batch = [transaction('a', 1), transaction('b', 2)];
    callsOf(store).spend(batch);
    expect(callsOf(store).check(batch).levelsTicks).toEqual([T, 2 * T]);
    expect(store.stats().limits).toMatchObject({ Orders: { size: 2 } });
  });

  test('takes no bucket for what takes no tokens', () => {
    const store = memoryStore({ time: new FakeTime() });
    callsOf(store).spend([transaction('free', 0)]);
    callsOf(store).check([transaction('checked', 1)]);
    callsOf(store).spend([transaction('looked at', 1, 'check-only')]);
    callsOf(store).charge([transaction('nothing', 0)]);
    callsOf(store).refund([transaction('never seen', 1)]);
    expect(store.stats().size).toBe(0);
  });

  test('drops a bucket that a refund fills', () => {
    const store = memoryStore({ time: new FakeTime() });
    callsOf(store).spend([transaction('a', 3)]);
    callsOf(store).refund([transaction('a', 2)]);
    expect(store.stats().size).toBe(1);
    callsOf(store).refund([transaction('a', 1)]);
    expect(store.stats().size).toBe(0);
  });

  test('has at most maxKeys buckets after any call, also when one batch adds more', () => {
    const store = memoryStore({ maxKeys: 3, time: new FakeTime() });
    const batch = ['a', 'b', 'c', 'd', 'e'].map((id, i) => transaction(id, 1 + i));
    expect(callsOf(store).spend(batch).levelsTicks).toEqual([0, 0, 0, 0, 0]);
    expect(store.stats()).toMatchObject({ size: 3, evicted: 2 });
    expect(callsOf(store).check(batch).levelsTicks).toEqual([0, 0, 3 * T, 4 * T, 5 * T]);
    callsOf(store).charge(['f', 'g'].map((id) => transaction(id, 10)));
    expect(store.stats()).toMatchObject({ size: 3, evicted: 4 });
  });

  test('drops what is full again before what is in debt, and does not count it as evicted', () => {
    const time = new FakeTime();
    const store = memoryStore({ maxKeys: 2, time });
    callsOf(store).spend([transaction('short', 1), transaction('long', 2)]);
    time.advance(1000);
    callsOf(store).spend([transaction('new', 1)]);
    expect(store.stats()).toMatchObject({ size: 2, evicted: 0, swept: 1 });
    expect(callsOf(store).check([transaction('long', 1)]).levelsTicks).toEqual([T]);
  });

  test('keeps an exhausted bucket of a store of one key', () => {
    const store = memoryStore({ maxKeys: 1, time: new FakeTime() });
    callsOf(store).spend([transaction('exhausted', BURST)]);
    for (let i = 0; i < 100; i++) callsOf(store).spend([transaction(`id${i}`, 1)]);
    expect(callsOf(store).check([transaction('exhausted', 1)]).levelsTicks).toEqual([BURST * T]);
  });

  test('counts ticks from when it was made, so that they are exact also by a wall clock', () => {
    const time = new FakeTime(Date.UTC(2026, 6, 1));
    const store = memoryStore({ time });
    expect(callsOf(store).spend([transaction('a', 1)]).nowTicks).toBe(0);
    time.advance(0.001);
    expect(callsOf(store).check([transaction('a', 1)])).toEqual({ passed: 0, nowTicks: 16, levelsTicks: [T - 16] });
  });

  test('keeps its buckets while its clock runs below where it started', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    time.set(-10_000_000);
    for (let i = 0; i < 100; i++) callsOf(store).spend([transaction(`id${i}`, 1)]);
    const levels = Array.from(
      { length: 100 },
      (_, i) => callsOf(store).check([transaction(`id${i}`, 1)]).levelsTicks[0],
    );
    expect(new Set(levels)).toEqual(new Set([T]));
  });

  test('shares nothing with another store', () => {
    const time = new FakeTime();
    callsOf(memoryStore({ time })).spend([transaction('a', BURST)]);
    expect(callsOf(memoryStore({ time })).check([transaction('a', 1)]).levelsTicks).toEqual([0]);
  });

  test('reports nothing after it was closed', () => {
    const store = memoryStore();
    store.close();
    expect(() => store.stats()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
  });
});

describe('the options of a memory store', () => {
  test.each([0, -1, 1.5, NaN, Infinity, 1_000_000_001, '1000', null])('reject maxKeys: %j', (maxKeys) => {
    const options = { maxKeys } as unknown as MemoryStoreOptions;
    expect(() => memoryStore(options)).toThrow(/^`maxKeys` must be a whole number from 1 to 1000000000, but was/);
    expect(() => memoryStore(options)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });

  test.each([null, 0, {}, { nowMicros: 5 }, () => 0])('reject time: %j', (time) => {
    const options = { time } as unknown as MemoryStoreOptions;
    expect(() => memoryStore(options)).toThrow(
      /^`time` must be an object with the methods nowMicros, .*, but was .*FakeTime/,
    );
    expect(() => memoryStore(options)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });

  test('reject an unknown name', () => {
    const options = { maxKey: 5 } as unknown as MemoryStoreOptions;
    expect(() => memoryStore(options)).toThrow(/has no option `maxKey`.*Did you mean `maxKeys`/);
    expect(() => memoryStore(options)).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION' }));
  });

  test('allow 1 and 1,000,000,000 keys', () => {
    for (const maxKeys of [1, 1_000_000_000]) expect(memoryStore({ maxKeys }).stats().maxKeys).toBe(maxKeys);
  });
});
