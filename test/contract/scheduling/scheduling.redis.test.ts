import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { SteeredStore } from '../../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { schedulingCases } from './cases.ts';

describe('calls are scheduled on the Redis store', async () => {
  const server = await redisServer();
  test.each(schedulingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(
      run({ store: new SteeredStore(server, time), time, advance: (ms) => time.advance(ms) }),
    ).resolves.toBeUndefined();
  });
});
