import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { queues, queueSteps, QueueRun } from './waiting.ts';

const server = await redisServer();

test('in Redis too, no queued request continues sooner than the rate allows, waits longer than maxWait or is overtaken', async () => {
  const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(queues, queueSteps, async (queue, steps) => {
      const report = await new QueueRun(store, String(runs++), queue).run(steps, () => undefined);
      expect(report).toEqual({ wrong: [], excess: 0n });
    }),
  );
  await store.close();
});
