import { memoryStore, type MemoryStore, type StoreTransaction } from '@sluice/core';
import { FakeClock } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';

const TICKS_PER_SECOND = 16_000_000;
const BURST = 2;
const T = 3600 * TICKS_PER_SECOND;
const HOUR_MS = 3_600_000;
const FLOOD = 10_000_000;
const MAX_KEYS = 100_000;

function transaction(id: string, cost: number): StoreTransaction {
  return { limit: 'Logins', id, incrementTicks: cost * T, toleranceTicks: BURST * T, mode: 'check-and-spend' };
}

function spendOnce(store: MemoryStore, ids: number, prefix: string): void {
  for (let i = 0; i < ids; i++) store.spend([transaction(`${prefix}${i}`, 1)]);
}

describe('a memory store under a flood of ten million keys', () => {
  test('holds no more than maxKeys, counts what it evicts, and keeps every exhausted bucket exhausted', () => {
    const clock = new FakeClock(0);
    const store = memoryStore({ maxKeys: MAX_KEYS, clock });
    const exhausted = Array.from({ length: 1000 }, (_, i) => transaction(`exhausted${i}`, BURST));
    for (const bucket of exhausted) store.spend([bucket]);

    let most = 0;
    for (let i = 0; i < FLOOD; i++) {
      store.spend([transaction(`flood${i}`, 1)]);
      most = Math.max(most, store.stats().size);
    }

    expect(most).toBe(MAX_KEYS);
    expect(store.stats()).toMatchObject({ size: MAX_KEYS, evicted: FLOOD + exhausted.length - MAX_KEYS, swept: 0 });
    expect(store.stats().bytes).toBeLessThan(40 * MAX_KEYS);
    expect(store.check(exhausted).levelsTicks).toEqual(exhausted.map(() => BURST * T));
  });

  test('gives its memory back when the keys have passed, while it is used for others', () => {
    const clock = new FakeClock(0);
    const store = memoryStore({ clock });
    const fresh = store.stats().bytes;
    spendOnce(store, 500_000, 'key');
    const full = store.stats();
    clock.advance(HOUR_MS);
    for (let round = 0; round < 100; round++) spendOnce(store, 5000, 'other');
    const used = store.stats();
    clock.advance(BURST * HOUR_MS);
    for (let call = 0; call < 10_000; call++) store.check([transaction('one', 1)]);

    expect(full.size).toBe(500_000);
    expect(used).toMatchObject({ size: 5000, swept: 500_000 });
    expect(used.bytes).toBeLessThan(full.bytes / 50);
    expect(store.stats()).toMatchObject({ size: 0, swept: 505_000, evicted: 0 });
    expect(store.stats().bytes).toBe(fresh);
  });
});
