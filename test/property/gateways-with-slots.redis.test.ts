import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { gatewayScenes, Gateways } from './gateways-with-slots.ts';
import { atMost } from './runs.ts';

const server = await redisServer();

test('on Redis gateways that crash, stall and lose their store never hold more slots than there are', async () => {
  await fc.assert(
    // Few steps, because most of them take calls of a server.
    fc.asyncProperty(gatewayScenes(40), async ({ block, steps }) => {
      const time = new FakeTime(1000);
      const gateways = new Gateways((clock) => new SteeredStore(server, clock), { time, block });
      await gateways.run(steps);
      expect(gateways.wrongs).toEqual([]);
    }),
    { numRuns: atMost(500) },
  );
}, 600_000);
