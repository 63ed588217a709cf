import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { SteeredStore } from '../../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { clockCases, schedulingCases } from './cases.ts';

describe('calls are scheduled on the Redis store', async () => {
  const server = await redisServer();
  test.each(schedulingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(
      run({ store: new SteeredStore(server, time), time, advance: (ms) => time.advance(ms) }),
    ).resolves.toBeUndefined();
  });

  test.each(clockCases)('$name', async ({ run }) => {
    const [time, ofServer] = [new FakeTime(), new FakeTime()];
    const advance = (ms: number): void => {
      ofServer.advance(ms);
      time.advance(ms);
    };
    const store = new SteeredStore(server, ofServer);
    const step = (ms: number): void => ofServer.set(ofServer.nowMs + ms);
    await expect(run({ store, time, advance, step })).resolves.toBeUndefined();
  });
});
