import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gatewayScenes, Gateways } from './gateways-with-slots.ts';
import { RUNS } from './runs.ts';

test('gateways that crash, stall and lose their store never hold more slots than there are, and none is lost', async () => {
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(gatewayScenes(200), async ({ block, steps: scene }) => {
      const time = new FakeTime(1000);
      const gateways = new Gateways((server) => memoryStore({ time: server }), { time, block });
      await gateways.run(scene);
      steps += gateways.steps;
      expect(gateways.wrongs).toEqual([]);
    }),
    { numRuns: RUNS },
  );
  // Most scenes are long.
  expect(steps).toBeGreaterThan(50 * RUNS);
});
