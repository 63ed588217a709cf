import { memoryStore, type Store } from '@sluice/core';
import type { FakeTime } from '@sluice/core/testing';

/** The memory store with promises. */
export function later(time: FakeTime): Store {
  const inner = memoryStore({ time });
  return {
    spend: async (batch) => inner.spend(batch),
    check: async (batch) => inner.check(batch),
    charge: async (batch) => inner.charge(batch),
    refund: async (batch) => inner.refund(batch),
    reset: async (batch) => inner.reset(batch),
    close: () => inner.close(),
  };
}
