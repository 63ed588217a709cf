import { describe } from 'vitest';
import { SteeredStore } from '../../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { scheduledOn } from './on-server.ts';

describe('calls are scheduled on the Redis store', async () => {
  const server = await redisServer();
  scheduledOn((time) => new SteeredStore(server, time));
});
