import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readyStore } from '../../packages/redis/test/support/ready-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { atMost } from './runs.ts';
import { expectExactInTurns, bothNumbers, step, StoreComparison, type Step } from './store-comparison.ts';

const server = await redisServer();
/** The same step again and again. */
const hammered = fc.tuple(step, fc.integer({ min: 1, max: 10 })).map(([next, times]) => Array<Step>(times).fill(next));

test('all calls of one turn have the same results on Redis as in memory and by the exact rule', async () => {
  const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
  await expectExactInTurns(store);
  expect(store.status().counts.batches).toBeGreaterThan(0);
  await store.close();
});

test('the same is true where this process denies by remembered denials', async () => {
  const store = await readyStore({ url: server.url });
  await fc.assert(
    fc.asyncProperty(bothNumbers, fc.array(hammered, { minLength: 1, maxLength: 12 }), async (numbers, steps) => {
      const comparison = new StoreComparison(store, numbers);
      for (const next of steps.flat()) await comparison.run([next]);
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: atMost(300) },
  );
  expect(store.status().counts.rememberedDenials).toBeGreaterThan(50);
  await store.close();
});
