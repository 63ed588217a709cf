import { createLimiter } from '@sluice/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { assuredOf, definitionsOf, recorded, scenes, worstBound } from './borrowing.ts';
import { atMost } from './runs.ts';

const server = await redisServer();
const step = fc.record({ who: fc.nat(), cost: fc.double({ min: 0, max: 1, noNaN: true }) });
const steps = fc.array(step, { minLength: 40, maxLength: 40 });

test('on Redis a pool and every client keep their bounds, and assured tokens are never denied', async () => {
  const redis = await readyStore({ url: server.url });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(scenes, steps, fc.boolean(), async (scene, asked, together) => {
      run++;
      const { store, grants } = recorded(redis);
      const limiter = createLimiter({
        ...definitionsOf(scene, run),
        store,
        log: false,
        failure: { onFailure: 'closed', deadlineMs: 5000 },
      });
      const ids = [...assuredOf(scene)];
      const left = new Map(ids.filter((_, i) => i % 2 === 1).map(([id, { count, burst = count }]) => [id, burst]));
      const ofModest: string[] = [];
      const ask = async ({ who, cost }: { who: number; cost: number }): Promise<void> => {
        const [id, { count, burst = count }] = ids[who % ids.length]!;
        const tokens = Math.max(1, Math.floor(cost ** 2 * burst));
        const own = left.get(id);
        if (own !== undefined && own < tokens) return;
        // A client is never denied within its assured burst.
        if (own !== undefined) left.set(id, own - tokens);
        const { outcome, results } = await limiter.spend([{ limit: `PerUser${run}`, id, cost: tokens }]);
        if (own !== undefined) ofModest.push(`${outcome} ${results[0]?.borrowed}`);
        if (outcome === 'unavailable') ofModest.push(outcome);
      };
      if (together) await Promise.all(asked.map(ask));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      else for (const one of asked) await ask(one);
      await limiter.close();
      expect(ofModest.filter((each) => each !== 'allowed false')).toEqual([]);
      expect(worstBound(scene, run, grants)).toBe(0);
    }),
    { numRuns: atMost(100) },
  );
  await redis.close();
});
