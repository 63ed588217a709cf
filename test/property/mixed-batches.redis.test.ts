import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { mixedRun, mixedSteps } from './mixed-batches.ts';

const server = await redisServer();

test('in Redis a batch of all kinds of limits takes from all buckets or from none', async () => {
  await fc.assert(
    // Few steps, because each takes five calls of a server.
    fc.asyncProperty(mixedSteps(6), async (steps) => {
      const time = new FakeTime();
      const { seen, exact } = await mixedRun(steps, new SteeredStore(server, time), time);
      expect(seen).toEqual(exact);
    }),
  );
});
