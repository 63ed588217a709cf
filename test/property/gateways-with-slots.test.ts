import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gatewayScenes } from './gateway-scenes.ts';
import { Gateways } from './gateways-with-slots.ts';
import { ReplicatedMemory } from './replicated-store.ts';
import { RUNS } from './runs.ts';
import { StepCounts } from './step-counts.ts';

const LONG_RUNS = 10_000;
/** The memory store follows its clock as far back as that. */
const numbers = { mostBackMs: 1000, stepMs: 0 };

test('gateways that crash, stall and lose their store never hold more slots than there are, and none is lost', async () => {
  const counts = new StepCounts();
  await fc.assert(
    fc.asyncProperty(gatewayScenes(300), async (steps) => {
      const gateways = new Gateways((time) => new ReplicatedMemory(time), { ...numbers, counts });
      await gateways.run(steps);
      expect(gateways.wrongs).toEqual([]);
    }),
    { numRuns: RUNS },
  );
  console.log(`In memory: ${counts.line()}`);
  expect(counts.total).toBeGreaterThanOrEqual(RUNS < LONG_RUNS ? 50 * RUNS : 1_000_000);
  expect(counts.of('slots that a replica lacked')).toBeGreaterThan(0);
  expect(counts.of('slots whose release it lacked')).toBeGreaterThan(0);
});
