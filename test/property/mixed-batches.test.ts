import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mixedRun, mixedSteps } from './mixed-batches.ts';

test('a batch of a rate, a share, a queue, a debt, a quota and a loan takes from all buckets or from none', async () => {
  await fc.assert(
    fc.asyncProperty(mixedSteps(25), async (steps) => {
      const time = new FakeTime();
      const { seen, exact } = await mixedRun(steps, memoryStore({ time }), time);
      expect(seen).toEqual(exact);
    }),
  );
});
