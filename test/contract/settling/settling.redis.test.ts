import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { redisStore } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { SteeredStore } from '../../../packages/redis/test/support/steered-store.ts';
import { redisCluster } from '../../redis/servers/redis-cluster.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { settlingCases } from './cases.ts';

describe('decisions are settled on the Redis store', async () => {
  const server = await redisServer();
  test.each(settlingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(
      run({ store: new SteeredStore(server, time), time, advance: (ms) => time.advance(ms) }),
    ).resolves.toBeUndefined();
  });
});

test('when a server of a cluster does not answer, the limits on the other servers are settled', async () => {
  // No failover when the machine stalls.
  const cluster = await redisCluster({ nodeTimeoutMs: 60_000 });
  const primaryOf = async (limit: string, id: string) =>
    cluster.primaryOf(await cluster.slotOf(`sluice:${limit}:${id}`));
  let id = 1;
  while ((await primaryOf('First', `${id}`)) === (await primaryOf('Second', `${id}`))) id += 1;
  const client = new Cluster([...cluster.addresses]);
  const store = redisStore({ client, log: false });
  running.add({ close: () => store.close() });
  running.add({ close: async () => void (await client.quit()) });
  const rate = { key: accountId(), burst: 100, count: 1, period: '1h' };
  const limiter = createLimiter({
    limits: { First: rate, Second: rate },
    store,
    log: false,
    failure: { onFailure: 'closed', deadlineMs: 1000 },
  });
  await limiter.ready();
  const cost = { id: `${id}`, cost: 40 };
  const decision = await limiter.spend([
    { limit: 'First', ...cost },
    { limit: 'Second', ...cost },
  ]);
  expect(decision.allowed).toBe(true);

  const silent = await primaryOf('Second', `${id}`);
  silent.freeze();
  expect(await limiter.settle(decision, { First: 10, Second: 10 })).toEqual([
    { limit: 'First', spent: 10, outcome: 'settled' },
    { limit: 'Second', spent: 40, outcome: 'lost' },
  ]);
  silent.thaw();
});
