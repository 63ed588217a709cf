import { describe, expect, test } from 'vitest';
import { charged, fits, levelOf, refunded } from '../../src/gcra.ts';
import { memoryStore } from '../../src/memory/memory-store.ts';
import type { StoreTransaction } from '../../src/store.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { TICKS_PER_MICRO, TICKS_PER_MS } from '../../src/ticks.ts';
import { numbersFrom } from './numbers.ts';

const BURST = 10;
const T = 1000 * TICKS_PER_MS;

function transaction(id: string, cost: number, mode: StoreTransaction['mode'] = 'check-and-spend'): StoreTransaction {
  return { limit: 'Orders', id, incrementTicks: cost * T, toleranceTicks: BURST * T, mode };
}

describe('a memory store', () => {
  test('decides like one number per key in a plain map, however it grows, sweeps and shrinks', () => {
    const clock = new FakeClock(0);
    const store = memoryStore({ clock });
    const tats = new Map<string, number>();
    const random = numbersFrom(1);
    let wrong = 0;
    let most = 0;

    // A tide of ids: thousands are in debt at a time, then hardly any, then thousands again.
    for (let step = 0; step < 150_000; step++) {
      clock.advance(step % 50_000 < 30_000 ? random() * 0.1 : random() * 10);
      const id = `id${Math.floor(random() * 20_000)}`;
      const cost = Math.floor(random() * (BURST + 1));
      const call = random();
      const now = clock.nowMicros() * TICKS_PER_MICRO;
      const before = levelOf(tats.get(id) ?? 0, now, BURST * T);
      if (call < 0.8) {
        if (store.spend([transaction(id, cost)]).levelsTicks[0] !== before) wrong++;
        if (fits(before, cost * T, BURST * T)) tats.set(id, now + before + cost * T);
      } else {
        const charging = call < 0.9;
        const after = charging ? charged(before, cost * T, BURST * T) : refunded(before, cost * T);
        const reading = charging ? store.charge([transaction(id, cost)]) : store.refund([transaction(id, cost)]);
        if (reading.levelsTicks[0] !== after) wrong++;
        tats.set(id, now + after);
      }
      most = Math.max(most, store.stats().size);
    }

    expect(wrong).toBe(0);
    expect(most).toBeGreaterThan(10_000);
    expect(store.stats().size).toBeLessThan(8_000);
  });
});
