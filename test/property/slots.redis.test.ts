import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { SlotComparison, slotSteps } from './slots.ts';

const MOST_BACK_MS = 100_000;
const server = await redisServer();

test('in Redis slots are held as in a plain map', async () => {
  await fc.assert(
    // Few steps, because each takes three calls of a server.
    fc.asyncProperty(slotSteps(15), async (steps) => {
      const time = new FakeTime();
      const comparison = new SlotComparison(new SteeredStore(server, time), time, MOST_BACK_MS);
      await comparison.run(steps);
      expect(comparison.said).toEqual(comparison.exact);
    }),
  );
});
