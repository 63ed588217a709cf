import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lines, lineSteps, LineRun } from './waiting.ts';

test('in a line nobody starts sooner than the rate allows, waits for more than maxWait or is overtaken, whoever leaves', async () => {
  await fc.assert(
    fc.asyncProperty(lines, lineSteps, async (line, steps) => {
      const time = new FakeTime();
      const run = new LineRun(memoryStore({ time }), '7', line);
      const report = await run.run(steps, (micros) => time.advance(micros / 1000));
      expect(report).toEqual({ wrong: [], excess: 0n });
    }),
  );
});
