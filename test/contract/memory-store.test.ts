import { memoryStore } from '@sluice/core';
import { FakeTime, storeContract } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { realDelay } from '../real-delay.ts';

describe('the memory store keeps the contract of stores', () => {
  const cases = storeContract({
    clock: 'steered',
    create() {
      const time = new FakeTime();
      return {
        store: memoryStore({ time }),
        advance: (ms) => time.advance(ms),
        stepBack: (ms) => time.set(time.nowMs - ms),
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
      advance: realDelay,
    }),
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});
