import { describe, expect, test } from 'vitest';
import { SlotBuckets } from '../../../src/store/memory/slot-buckets.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import type { StoreTransaction } from '../../../src/store/store.ts';
import { FakeTime } from '../../../src/testing/fake-time.ts';
import { LONG_MS, SHORT_MS, slots } from '../../../src/testing/sample-slots.ts';
import { callsOf } from '@sluice/core/testing';
import { sized } from '../../../../../test/sized.ts';

function token(id: string, limit = 'Rate'): StoreTransaction {
  return { limit, id, incrementTicks: 1, fitTicks: 5, capTicks: 5, mode: 'check-and-spend' };
}

describe('slots in the memory store', () => {
  test('are reported for each limit, and not among the buckets', () => {
    const store = memoryStore();
    callsOf(store).spend([
      slots.take('a', 'x', { count: 2 }),
      slots.take('b', 'x'),
      { ...slots.take('c', 'x'), limit: 'Fleet' },
    ]);
    expect(store.stats()).toMatchObject({ size: 0, bytes: 0, limits: {}, slots: { Slots: 3, Fleet: 1 } });
    callsOf(store).release([slots.held('a', 'x')]);
    callsOf(store).release([{ ...slots.held('c', 'x'), limit: 'Fleet' }]);
    expect(store.stats().slots).toEqual({ Slots: 2 });
  });

  test('are never evicted, and evict no bucket', () => {
    const store = memoryStore({ maxKeys: 2, time: new FakeTime() });
    for (let i = 0; i < 10; i++) callsOf(store).spend([slots.take(`s${i}`, 'x'), token(`t${i % 2}`)]);
    for (let i = 0; i < 10; i++) callsOf(store).spend([token(`flood${i}`)]);
    expect(store.stats()).toMatchObject({ size: 2, slots: { Slots: 10 } });
  });

  test('stay free when they have expired and the clock steps back', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    callsOf(store).spend([slots.take('id', 'x', { expiryMs: SHORT_MS })]);
    time.advance(SHORT_MS);
    const level = () => callsOf(store).check([slots.take('id', 'y')]).levelsTicks[0];
    expect(level()).toBe(0);
    time.set(SHORT_MS / 2);
    expect(level()).toBe(0);
  });

  test('are held for no longer than their expiry from a renewal of others at which the clock had stepped back', () => {
    const time = new FakeTime(SHORT_MS);
    const store = memoryStore({ time });
    callsOf(store).spend([slots.take('id', 'x', { expiryMs: SHORT_MS })]);
    time.set(SHORT_MS / 2);
    callsOf(store).renew([slots.held('id', 'y')]);
    time.advance(SHORT_MS);
    expect(callsOf(store).check([slots.take('id', 'z')]).levelsTicks).toEqual([1]);
  });

  test('leave nothing behind when they expire while no call names their buckets', () => {
    const time = new FakeTime();
    const store = memoryStore({ time });
    for (let i = 0; i < 1000; i++) callsOf(store).spend([slots.take(`lost${i}`, 'x', { expiryMs: SHORT_MS })]);
    callsOf(store).spend([slots.take('kept', 'x', { expiryMs: LONG_MS })]);
    time.advance(SHORT_MS);
    for (let call = 0; call < 1100; call++) callsOf(store).check([token('any')]);
    expect(store.stats().slots).toEqual({ Slots: 1 });
  });

  test('that nobody releases are dropped as fast as new ones are taken', () => {
    const time = new FakeTime();
    const buckets = new SlotBuckets();
    let most = 0;
    for (let i = 0; i < sized(6000, 20_000); i++) {
      time.advance(1);
      buckets.take({ limit: 'Lost', id: `${i}` }, { holder: 'x', expiryMs: SHORT_MS }, 1, time.nowMicros() * 16);
      most = Math.max(most, buckets.heldByLimit()['Lost'] ?? 0);
    }
    // A thousand of them have not expired, and as many wait for the sweep.
    expect(most).toBeGreaterThan(1000);
    expect(most).toBeLessThan(2100);
  });

  test('are swept when there is only one bucket, and when there is none', () => {
    const buckets = new SlotBuckets();
    buckets.sweep(16, 0);
    for (const id of ['a', 'b', 'a']) {
      buckets.take({ limit: 'Only', id }, { holder: 'x', expiryMs: SHORT_MS }, 1, 0);
      buckets.sweep(16, SHORT_MS * 16_000 - 1);
      expect(buckets.heldByLimit()).toEqual({ Only: 1 });
      buckets.sweep(16, SHORT_MS * 16_000);
      expect(buckets.heldByLimit()).toEqual({});
    }
  });

  test('are all looked at by the sweep, in rounds', () => {
    const buckets = new SlotBuckets();
    const ids = Array.from({ length: 50 }, (_, i) => `${i}`);
    for (const id of ids) buckets.take({ limit: 'Only', id }, { holder: 'x', expiryMs: LONG_MS }, 1, 0);
    for (const id of ids.filter((each) => each.endsWith('7'))) {
      buckets.hold({ limit: 'Only', id, holder: 'x', expiryMs: SHORT_MS, first: 1, count: 1 }, 0);
    }
    for (let step = 0; step < 11; step++) buckets.sweep(5, SHORT_MS * 16_000);
    expect(buckets.heldByLimit()).toEqual({ Only: 45 });
  });
});
