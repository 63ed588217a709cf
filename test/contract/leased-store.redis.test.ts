import { leasedStore } from '@sluice/redis';
import { storeContract } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { patient } from '../patient.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';
import { until } from '../redis/servers/until.ts';
import { realDelay } from '../real-delay.ts';

let stores = 0;

describe('the store with leases keeps the contract of stores for limits without an overshoot', async () => {
  const server = await redisServer();
  const cases = storeContract({
    clock: 'real',
    async create() {
      const store = patient(
        leasedStore({ url: server.url, prefix: `leased-contract${stores++}:`, gateways: 2, maxWait: '1s' }),
      );
      running.add({ close: () => store.close() });
      await store.ready();
      return {
        store,
        advance: realDelay,
        async hang(run) {
          server.freeze();
          try {
            await run();
          } finally {
            server.thaw();
          }
        },
        async provokeReport() {
          const connects = store.status().counts.connects + 1;
          await server.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
          await until('it is connected again', () => store.status().counts.connects >= connects);
        },
      };
    },
  });
  test.each(cases)('$name', async ({ run }) => expect(run()).resolves.toBeUndefined());
});
