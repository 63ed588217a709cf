import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { lines, lineSteps, LineRun } from './waiting.ts';

const server = await redisServer();

test('on Redis nobody in a line starts sooner than the rate allows, waits too long or is overtaken either', async () => {
  const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(lines, lineSteps, async (line, steps) => {
      const report = await new LineRun(store, String(runs++), line).run(steps, () => undefined);
      expect(report).toEqual({ wrong: [], excess: 0n });
    }),
  );
  await store.close();
});
