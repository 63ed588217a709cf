import { describe, expect, test } from 'vitest';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { TICKS_PER_MS } from '../../../src/rule/ticks.ts';
import type { CalendarPeriod } from '../../../src/store/calendar-period.ts';
import { dump, dumpParts, restore, restorePart } from '../../../src/dump.ts';
import { memoryStore, type MemoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StoreTransaction } from '../../../src/store/store.ts';
import { numbersFrom } from './numbers.ts';

const JULY = Date.parse('2026-07-01T00:00:00Z');
const DAY_MS = 86_400_000;
const TODAY: CalendarPeriod = [JULY, JULY + DAY_MS, JULY + 2 * DAY_MS];
const T = 1000 * TICKS_PER_MS;
/** A hundred times as many tokens are almost the most that a day may have. */
const MANY = 863_999_999;
const NAMES = ['Orders', 'Zoë’s', '日本'];

function rate(limit: string, id: string, cost: number): StoreTransaction {
  return { limit, id, incrementTicks: cost * T, fitTicks: 100 * T, capTicks: 100 * T, mode: 'check-and-spend' };
}

function quota(limit: string, id: string, cost: number): StoreTransaction {
  const most = 100 * MANY;
  return { ...rate(limit, id, cost), incrementTicks: cost * MANY, fitTicks: most, capTicks: most, period: TODAY };
}

function storeAt(wallMs: number, maxKeys = 100_000) {
  const time = new FakeTime();
  time.setWall(wallMs);
  return { time, store: memoryStore({ time, maxKeys }) };
}

/** A store with ids of rates and quotas, all in debt by different amounts, some of them full again. */
function used() {
  const { time, store } = storeAt(JULY);
  const random = numbersFrom(1);
  for (let i = 0; i < 20_000; i++) {
    const [limit, id, cost] = [NAMES[i % 3]!, `id${Math.floor(random() * 5000)}`, 1 + Math.floor(random() * 50)];
    callsOf(store).spend([random() < 0.5 ? rate(limit, id, cost) : quota(limit, id, cost)]);
    if (i % 100 === 0) time.advance(50);
  }
  return { time, store };
}

function levels(store: MemoryStore, of: typeof rate): readonly number[] {
  const buckets = NAMES.flatMap((limit) => Array.from({ length: 5000 }, (_, id) => of(limit, `id${id}`, 1)));
  return buckets.flatMap((bucket) => callsOf(store).check([bucket]).levelsTicks);
}

function restored(bytes: Uint8Array, wallMs: number, maxKeys?: number) {
  const next = storeAt(wallMs, maxKeys);
  next.time.advance(1234.5);
  next.time.setWall(wallMs);
  restore(next.store, bytes);
  return next;
}

describe('a memory store that restores a dump', () => {
  test('has the levels that the other store would have, less at most a millisecond of refill', () => {
    const { time, store } = used();
    const next = restored(dump(store), time.wallNow() + 7001);
    time.advance(7000);
    const expected = levels(store, rate);
    expect(expected.filter((level) => level > 0).length).toBeGreaterThan(1000);
    expect(levels(next.store, rate)).toEqual(expected);
    expect(levels(next.store, quota)).toEqual(levels(store, quota));
  });

  test('does not read the bytes later, which may then be overwritten', () => {
    const { time, store } = used();
    const bytes = Buffer.from(dump(store));
    const next = restored(bytes, time.wallNow());
    bytes.fill(0);
    const last = restored(dump(next.store), time.wallNow());
    expect(levels(last.store, quota)).toEqual(levels(store, quota));
  });

  test('decides as the other one would', () => {
    const { time, store } = used();
    const next = restored(dump(store), time.wallNow() + 1);
    const random = numbersFrom(2);
    for (let i = 0; i < 5000; i++) {
      const [of, limit, id] = [random() < 0.5 ? rate : quota, NAMES[i % 3]!, `id${Math.floor(random() * 6000)}`];
      const transaction = of(limit, id, 1 + Math.floor(random() * 90));
      const [expected, found] = [store, next.store].map((each) => callsOf(each).spend([transaction]).levelsTicks);
      expect(found).toEqual(expected);
      if (i % 10 === 0) for (const each of [time, next.time]) each.advance(20);
    }
  });

  test('lets nobody through earlier if the wall clock was set back meanwhile', () => {
    const { time, store } = used();
    const next = restored(dump(store), time.wallNow() - 3_600_000);
    expect(levels(next.store, rate)).toEqual(levels(store, rate));
  });

  test('drops the counts of periods that have ended long ago', () => {
    const { store } = used();
    const next = restored(dump(store), JULY + 2 * DAY_MS);
    const tomorrow = {
      ...quota('Orders', 'id1', 1),
      period: [JULY + 2 * DAY_MS, JULY + 3 * DAY_MS, JULY + 4 * DAY_MS] as const,
    };
    expect(callsOf(next.store).check([tomorrow]).levelsTicks).toEqual([0]);
  });

  test('keeps to its own number of buckets', () => {
    const next = restored(dump(used().store), JULY, 1000);
    expect(next.store.stats().size).toBe(1000);
    expect(next.store.stats().evicted).toBeGreaterThan(1000);
  });

  test('may be empty, and may restore what an empty one has left', () => {
    const { time, store } = storeAt(JULY);
    callsOf(store).spend([rate('Orders', 'id', 1)]);
    time.advance(1000);
    const next = restored(dump(store), JULY);
    expect(next.store.stats().limits).toEqual({});
    expect(restored(dump(next.store), JULY).store.stats().limits).toEqual({});
  });

  test('has no slots of requests that have ended with their process', () => {
    const { store } = storeAt(JULY);
    const holding = { holder: 'a', expiryMs: 60_000 };
    callsOf(store).spend([{ ...rate('Slots', 'id', 1), incrementTicks: 1, fitTicks: 2, capTicks: 2, holding }]);
    expect(store.stats().slots).toEqual({ Slots: 1 });
    expect(restored(dump(store), JULY).store.stats().slots).toEqual({});
  });
});

describe('a memory store that takes over the parts of another one', () => {
  const holding = (holder: string) => ({ holder, expiryMs: 60_000 });
  const slot = (id: string, holder: string) => {
    return { ...rate('Slots', id, 1), incrementTicks: 1, fitTicks: 9e6, capTicks: 9e6, holding: holding(holder) };
  };

  test('has the levels and the slots that the other one would have, and no part is large', () => {
    const { time, store } = used();
    for (let i = 0; i < 2500; i++) callsOf(store).spend([slot('one', `h${i}`)]);
    for (let i = 0; i < 2500; i++) callsOf(store).spend([slot(`id${i}`, 'h')]);
    const next = storeAt(time.wallNow());
    const parts = [...dumpParts(store)];
    expect(parts.length).toBeGreaterThan(10);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(200_000);
    time.advance(7000);
    next.time.setWall(time.wallNow() + 1);
    for (const part of parts) restorePart(next.store, part);
    expect(levels(next.store, rate)).toEqual(levels(store, rate));
    expect(levels(next.store, quota)).toEqual(levels(store, quota));
    expect(next.store.stats().slots).toEqual({ Slots: 5000 });
    // They expire as they would have.
    for (const each of [time, next.time]) each.advance(52_998);
    expect(callsOf(next.store).check([slot('one', '')]).levelsTicks).toEqual([2500]);
    for (const each of [time, next.time]) each.advance(2);
    expect(callsOf(store).check([slot('one', '')]).levelsTicks).toEqual([0]);
    expect(callsOf(next.store).check([slot('one', '')]).levelsTicks).toEqual([0]);
  });

  test('has no slots that have expired before', () => {
    const { time, store } = storeAt(JULY);
    callsOf(store).spend([slot('id', 'old')]);
    time.advance(1000);
    callsOf(store).spend([slot('id', 'new')]);
    const next = storeAt(JULY + 60_500);
    for (const part of dumpParts(store)) restorePart(next.store, part);
    expect(next.store.stats().slots).toEqual({ Slots: 1 });
    time.advance(60_000);
    expect([...dumpParts(store)]).toEqual([]);
  });

  test.each([
    '',
    '{',
    '[]',
    '{"wallMs":null,"buckets":[]}',
    '{"wallMs":1,"buckets":{}}',
    '{"wallMs":1,"buckets":[1]}',
    '{"wallMs":1,"buckets":[{"limit":"A","key":1,"slots":[]}]}',
    '{"wallMs":1,"buckets":[{"limit":"A","key":"A:","slots":[1]}]}',
    '{"wallMs":1,"buckets":[{"limit":"A","key":"A:","slots":[{"holder":"a","from":1,"to":2,"leftTicks":1}]}]}',
  ])('rejects slots that are damaged: %j', (text) => {
    const part = new TextEncoder().encode(`SluiceSL1${text}`);
    expect(() => restorePart(storeAt(JULY).store, part)).toThrow(expect.objectContaining({ code: 'ERR_DUMP' }));
  });
});

describe('a dump is rejected, and the store remains as it was,', () => {
  const whole = dump(used().store);

  function expectRejected(bytes: unknown, expected: object, store = storeAt(JULY).store): void {
    const before = store.stats();
    expect(() => restore(store, bytes as Uint8Array)).toThrow(
      expect.objectContaining({ code: 'ERR_DUMP', ...expected }),
    );
    expect(store.stats()).toEqual(before);
  }

  function changed(at: number, value: number): Uint8Array {
    const bytes = whole.slice();
    bytes[at] = value;
    return bytes;
  }

  test('by a store that has buckets', () => {
    const { store } = storeAt(JULY);
    callsOf(store).spend([rate('Orders', 'id', 1)]);
    expectRejected(whole, { message: expect.stringContaining('has buckets') }, store);
    expect(callsOf(store).check([rate('Orders', 'id', 1)]).levelsTicks).toEqual([T]);
  });

  test.each([undefined, 'SluiceMS', [1, 2], new Uint8Array(), new TextEncoder().encode('x'.repeat(100))])(
    'if it is something else: %j',
    (bytes) => {
      expectRejected(bytes, { message: expect.stringContaining('that dump() of a memory store has returned') });
    },
  );

  test('if another version has written it', () => {
    expectRejected(changed(8, 2), { message: expect.stringContaining('is of format 2') });
  });

  test('if a part of it is missing, wherever it ends, or something follows it', () => {
    const small = storeAt(JULY).store;
    callsOf(small).spend([rate('Orders', 'id', 1), quota('Daily', 'id', 1)]);
    const bytes = dump(small);
    const wrong = Array.from({ length: bytes.length }, (_, length) => bytes.subarray(0, length));
    for (const each of [...wrong, Uint8Array.of(...bytes, 0)]) expectRejected(each, {});
    expect(restored(bytes, JULY).store.stats().size).toBe(2);
  });

  test('if a bucket in it has no valid hash or no time, or the clock is none', () => {
    const damaged = { message: expect.stringContaining('is incomplete or damaged') };
    const firstBucket = whole.length - 16;
    expectRejected(changed(firstBucket, 0), damaged);
    for (const at of [firstBucket + 8, 8 + 4 + 16]) {
      const bytes = whole.slice();
      new DataView(bytes.buffer).setFloat64(at, Number.NaN, true);
      expectRejected(bytes, damaged);
    }
  });

  test('if the store is closed', () => {
    const { store } = storeAt(JULY);
    store.close();
    expect(() => restore(store, whole)).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
    expect(() => dump(store)).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
  });
});
