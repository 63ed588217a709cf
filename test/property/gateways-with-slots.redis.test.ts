import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redisServer } from '../redis/servers/redis-server.ts';
import { gatewayScenes } from './gateway-scenes.ts';
import { Gateways } from './gateways-with-slots.ts';
import { ReplicatedRedis } from './replicated-redis.ts';
import { RUNS } from './runs.ts';
import { StepCounts } from './step-counts.ts';

const server = await redisServer();
const numbers = { mostBackMs: 100_000, stepMs: 250 };
/** Each scene takes some hundred calls of the server. */
const SCENES = Math.ceil(RUNS / 4);

test('on Redis gateways that crash, stall and lose their store never hold more slots than there are', async () => {
  const counts = new StepCounts();
  await fc.assert(
    fc.asyncProperty(gatewayScenes(300), async (steps) => {
      const gateways = new Gateways((time) => new ReplicatedRedis(server, time), { ...numbers, counts });
      await gateways.run(steps);
      await gateways.store.drop();
      expect(gateways.wrongs).toEqual([]);
    }),
    { numRuns: SCENES },
  );
  console.log(`On Redis: ${counts.line()}`);
  expect(counts.total).toBeGreaterThanOrEqual(50 * SCENES);
  expect(counts.of('slots that a replica lacked')).toBeGreaterThan(0);
  expect(counts.of('slots whose release it lacked')).toBeGreaterThan(0);
}, 300_000);
