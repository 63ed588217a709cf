import { memoryStore } from '@sluice/core';
import { FakeClock, storeContract } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';

describe('the memory store keeps the contract of stores', () => {
  const cases = storeContract({
    clock: 'steered',
    create() {
      const clock = new FakeClock(0);
      return {
        store: memoryStore({ clock }),
        advance: (ms) => clock.advance(ms),
        stepBack: (ms) => clock.set(clock.nowMs - ms),
      };
    },
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});

describe('the memory store keeps it on the real clock', () => {
  const cases = storeContract({
    clock: 'real',
    create: () => ({
      store: memoryStore(),
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    }),
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});
