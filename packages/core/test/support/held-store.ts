import { memoryStore, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import type { FakeTime } from '@sluice/core/testing';

/** A store whose answers are held until they are let go. What it has taken, it took when it was asked. */
export function heldStore(time: FakeTime) {
  const inner = memoryStore({ time });
  const held: (() => void)[] = [];
  const store: Store = {
    guard: storeGuard,
    traits: { slots: true },
    run: (operation) => {
      const reading = inner.run(operation);
      return new Promise((resolve) => held.push(() => resolve(reading)));
    },
    close: () => inner.close(),
  };
  /** Lets all answers go that are held now. */
  const answer = (): void => held.splice(0).forEach((let_) => let_());
  return { store, inner, answer };
}
