import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RUNS } from './runs.ts';
import { SlotComparison, slotSteps } from './slots.ts';

/** The memory store follows its clock as far back as that. */
const MOST_BACK_MS = 1000;

test('slots are held as in a plain map: taken in batches with a rate, renewed, released, and free after their expiry', async () => {
  await fc.assert(
    fc.asyncProperty(slotSteps(25), async (steps) => {
      const time = new FakeTime();
      const comparison = new SlotComparison(memoryStore({ time }), time, MOST_BACK_MS);
      await comparison.run(steps);
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: 10 * RUNS },
  );
});
