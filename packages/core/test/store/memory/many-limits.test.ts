import { describe, expect, test } from 'vitest';
import { memoryStore, type MemoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StoreTransaction } from '../../../src/store/store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { numbersFrom } from './numbers.ts';
import { callsOf } from '@sluice/core/testing';
import { sized } from '../../../../../test/sized.ts';

const T = 16_000_000;
/** The most tables among which empty ones are kept for a while. */
const MOST_WITH_EMPTY = 1024;

function transaction(limit: string, id: string, cost = 1): StoreTransaction {
  return { limit, id, incrementTicks: cost * T, fitTicks: 10 * T, capTicks: 10 * T, mode: 'check-and-spend' };
}

function limitsOf(store: MemoryStore): number {
  return Object.keys(store.stats().limits).length;
}

describe('a memory store of many limits', () => {
  test('evicts in the limit that has the most buckets, whichever that is at the time', () => {
    const store = memoryStore({ maxKeys: 1000, time: new FakeTime() });
    const random = numbersFrom(5);
    const sizes = new Map<string, number>();
    let wrong = 0;
    for (let i = 0; i < sized(2500, 10_000); i++) {
      // Some of 200 limits are used much more often than others.
      const limit = `Limit${Math.floor(200 * random() ** 3)}`;
      callsOf(store).spend([transaction(limit, `${i}`)]);
      sizes.set(limit, 1 + (sizes.get(limit) ?? 0));
      if (i < 1000) continue;
      const most = Math.max(...sizes.values());
      const after = store.stats().limits;
      const [lost, ...others] = [...sizes].filter(([name, size]) => after[name]?.size !== size);
      if (lost === undefined || others.length > 0 || lost[1] !== most || after[lost[0]]?.size !== most - 1) wrong++;
      else sizes.set(lost[0], most - 1);
    }
    expect(wrong).toBe(0);
    expect(store.stats().size).toBe(1000);
  });

  test('drops a limit that is no longer used during the calls of another', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    for (let i = 0; i < 5000; i++) callsOf(store).spend([transaction('Gone', `${i}`)]);
    time.advance(1000);
    for (let i = 0; i < 10_000; i++) callsOf(store).check([transaction('Used', 'a')]);
    expect(store.stats()).toEqual({
      size: 0,
      maxKeys: 1_000_000,
      evicted: 0,
      swept: 5000,
      bytes: 0,
      limits: {},
      slots: {},
    });
  });

  test('keeps few tables when there are ever new names of limits and their buckets refill', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    let most = 0;
    for (let i = 0; i < sized(4000, 20_000); i++) {
      callsOf(store).spend([transaction(`Limit${i}`, 'a')]);
      time.advance(10);
      if (i % 100 === 0) most = Math.max(most, limitsOf(store));
    }
    // 100 of them are in debt at a time.
    expect(most).toBeLessThan(MOST_WITH_EMPTY + 100);
  });

  test('keeps few tables when there are ever new names and each is reset', () => {
    const store = memoryStore({ time: new FakeTime() });
    for (let i = 0; i < 5000; i++) {
      callsOf(store).spend([transaction(`Limit${i}`, 'a')]);
      callsOf(store).reset([transaction(`Limit${i}`, 'a')]);
    }
    expect(limitsOf(store)).toBeLessThanOrEqual(MOST_WITH_EMPTY);
  });

  test('makes no table for limits that are only checked, refunded or reset', () => {
    const store = memoryStore({ time: new FakeTime() });
    for (let i = 0; i < 100; i++) {
      callsOf(store).check([transaction(`Limit${i}`, 'a')]);
      callsOf(store).refund([transaction(`Limit${i}`, 'a')]);
      callsOf(store).reset([transaction(`Limit${i}`, 'a')]);
    }
    expect(limitsOf(store)).toBe(0);
  });

  test('keeps at most maxKeys buckets of as many limits', () => {
    const store = memoryStore({ maxKeys: 100, time: new FakeTime() });
    for (let i = 0; i < 20_000; i++) callsOf(store).spend([transaction(`Limit${i}`, 'a')]);
    expect(store.stats()).toMatchObject({ size: 100, evicted: 19_900 });
    expect(limitsOf(store)).toBeLessThan(MOST_WITH_EMPTY + 100);
  });

  test('decides each of 3,000 limits in one batch, and remembers them all', () => {
    const store = memoryStore({ time: new FakeTime() });
    const batch = Array.from({ length: 3000 }, (_, i) => transaction(`Limit${i}`, 'a', 1 + (i % 5)));
    callsOf(store).spend(batch);
    expect(callsOf(store).check(batch).levelsTicks).toEqual(batch.map(({ incrementTicks }) => incrementTicks));
  });
});
