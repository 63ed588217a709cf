import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queues, queueSteps, QueueRun } from './waiting.ts';

test('no queued request continues sooner than the rate allows, waits longer than maxWait or is overtaken, whichever others leave', async () => {
  await fc.assert(
    fc.asyncProperty(queues, queueSteps, async (queue, steps) => {
      const time = new FakeTime();
      const run = new QueueRun(memoryStore({ time }), '7', queue);
      const report = await run.run(steps, (micros) => time.advance(micros / 1000));
      expect(report).toEqual({ wrong: [], excess: 0n });
    }),
  );
});
