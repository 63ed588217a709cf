import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Comparison, scenes } from './quotas.ts';
import { RUNS } from './runs.ts';

test('a quota grants what a plain counter does, in any time zone, with any anchor, wrong clocks of gateways and a rate beside it', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const time = new FakeTime();
      // Only the wall clock moves, so the rate does not refill.
      const setWall = (ms: number): void => time.setWall(ms);
      setWall(scene.at);
      const comparison = new Comparison(scene, { store: memoryStore({ time }), setWall, rateBurst: 12 });
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: RUNS },
  );
});
