import { memoryStore, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';

/** The memory store with promises. */
export function later(time: FakeTime): Store {
  const inner = memoryStore({ time });
  return { guard: storeGuard, run: async (operation) => inner.run(operation), close: () => inner.close() };
}
