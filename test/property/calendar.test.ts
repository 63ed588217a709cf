import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Comparison, scenes } from './calendar.ts';
import { RUNS } from './runs.ts';

const JULY = Date.UTC(2026, 6, 1);

test('the memory store counts as defined in any calendar, and never grants more than the quota of a period', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const time = new FakeTime();
      time.setWall(JULY);
      const comparison = new Comparison(memoryStore({ time }), time, JULY, scene);
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
      expect(comparison.mostGranted).toBeLessThanOrEqual(scene.count);
    }),
    { numRuns: RUNS },
  );
});
