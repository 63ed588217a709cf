import { memoryStore, type MemoryStore } from '@sluice/core';
import type { StoreTransaction } from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { sized } from '../sized.ts';

const TICKS_PER_SECOND = 16_000_000;
const BURST = 2;
const T = 3600 * TICKS_PER_SECOND;
const HOUR_MS = 3_600_000;
const FLOOD = sized(1_500_000, 10_000_000);
const MAX_KEYS = 100_000;

function transaction(id: string, cost: number, burst = BURST): StoreTransaction {
  return {
    limit: 'Logins',
    id,
    incrementTicks: cost * T,
    fitTicks: burst * T,
    capTicks: burst * T,
    mode: 'check-and-spend',
  };
}

/** A limit whose empty buckets are full again after a minute, long before those of the flood. */
function minuteBucket(id: string): StoreTransaction {
  const minute = 60 * TICKS_PER_SECOND;
  return { limit: 'Codes', id, incrementTicks: minute, fitTicks: minute, capTicks: minute, mode: 'check-and-spend' };
}

function spendOnce(store: MemoryStore, ids: number, prefix: string): void {
  for (let i = 0; i < ids; i++) callsOf(store).spend([transaction(`${prefix}${i}`, 1)]);
}

describe(`a memory store under a flood of ${FLOOD} keys`, () => {
  test('keeps at most maxKeys buckets, counts evictions, and keeps every exhausted bucket, of its limit and of another', () => {
    const time = new FakeTime();
    const store = memoryStore({ maxKeys: MAX_KEYS, time });
    const exhausted = Array.from({ length: 1000 }, (_, i) => transaction(`exhausted${i}`, BURST));
    const beside = Array.from({ length: 1000 }, (_, i) => minuteBucket(`exhausted${i}`));
    for (const bucket of [...exhausted, ...beside]) callsOf(store).spend([bucket]);

    let most = 0;
    for (let i = 0; i < FLOOD; i++) {
      callsOf(store).spend([transaction(`flood${i}`, 1)]);
      if (i % 1009 === 0) most = Math.max(most, store.stats().size);
    }

    expect(most).toBe(MAX_KEYS);
    expect(store.stats()).toMatchObject({ size: MAX_KEYS, evicted: FLOOD + 2000 - MAX_KEYS, swept: 0 });
    expect(store.stats().bytes).toBeLessThan(40 * MAX_KEYS);
    expect(callsOf(store).check(exhausted).levelsTicks).toEqual(exhausted.map(() => BURST * T));
    expect(callsOf(store).check(beside).levelsTicks).toEqual(beside.map(({ fitTicks }) => fitTicks));
  });

  test('gives its memory back when the keys have passed, while it is used for others', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    const fresh = store.stats().bytes;
    spendOnce(store, 500_000, 'key');
    const full = store.stats();
    time.advance(HOUR_MS);
    for (let round = 0; round < 100; round++) spendOnce(store, 5000, 'other');
    const used = store.stats();
    time.advance(BURST * HOUR_MS);
    for (let call = 0; call < 10_000; call++) callsOf(store).check([transaction('one', 1)]);

    expect(full.size).toBe(500_000);
    expect(used).toMatchObject({ size: 5000, swept: 500_000 });
    expect(used.bytes).toBeLessThan(full.bytes / 50);
    expect(store.stats()).toMatchObject({ size: 0, swept: 505_000, evicted: 0 });
    expect(store.stats().bytes).toBe(fresh);
  });
});

// The figures of docs/limits/memory.md.
describe('a store of buckets of one limit, under a flood of fifty times as many ids', () => {
  const KEYS = sized(8000, 20_000);

  /** Exhausts some buckets, floods the rest, and counts the exhausted buckets that were evicted. */
  function displaced({ burst, exhausted, flood }: { burst: number; exhausted: number; flood: number }) {
    const time = new FakeTime();
    const store = memoryStore({ maxKeys: KEYS, time });
    const spend = (bucket: StoreTransaction) => {
      time.advance(0.001);
      return callsOf(store).spend([bucket]).levelsTicks[0]!;
    };
    for (let i = 0; i < exhausted; i++) spend(transaction(`exhausted${i}`, burst, burst));
    for (let i = 0; i < flood; i++) spend(transaction(`flood${i}`, 1, burst));
    const { evictedDebtMs } = store.stats().limits['Logins']!;
    const looks = Array.from({ length: exhausted }, (_, i) => transaction(`exhausted${i}`, 1, burst));
    return { fresh: looks.filter((look) => callsOf(store).check([look]).levelsTicks[0] === 0).length, evictedDebtMs };
  }

  test.each([
    { share: 0.5, least: 0, most: 0.001 },
    { share: 0.8, least: 0.001, most: 0.02 },
    { share: 0.9, least: 0.05, most: 0.1 },
    { share: 0.99, least: 0.1, most: 0.2 },
  ])('makes from $least to $most of the exhausted ones fresh when they are $share of it', ({ share, least, most }) => {
    const exhausted = share * KEYS;
    const { fresh, evictedDebtMs } = displaced({ burst: 2, exhausted, flood: 50 * KEYS });
    expect(fresh / exhausted).toBeGreaterThanOrEqual(least);
    expect(fresh / exhausted).toBeLessThanOrEqual(most);
    // With a burst of 2, more than one interval of debt means that an exhausted bucket was evicted.
    expect(evictedDebtMs > HOUR_MS).toBe(fresh > 0);
  });

  test('evicts the oldest where the burst is 1: none until the store is full, all after half as many more ids', () => {
    const few = { burst: 1, exhausted: 1000 };
    expect(displaced({ ...few, flood: KEYS - 1000 }).fresh).toBe(0);
    expect(displaced({ ...few, flood: 1.5 * KEYS }).fresh).toBe(1000);
  });
});
