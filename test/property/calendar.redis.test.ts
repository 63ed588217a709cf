import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { Comparison, scenes } from './calendar.ts';
import { atMost } from './runs.ts';

const JULY = Date.UTC(2026, 6, 1);
const server = await redisServer();

test('the script counts as defined in any calendar, and never grants more than the quota of a period', async () => {
  await fc.assert(
    fc.asyncProperty(scenes, async (scene) => {
      const time = new FakeTime();
      const comparison = new Comparison(new SteeredStore(server, time), time, JULY, scene);
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
      expect(comparison.mostGranted).toBeLessThanOrEqual(scene.count);
    }),
    { numRuns: atMost(200) },
  );
});
