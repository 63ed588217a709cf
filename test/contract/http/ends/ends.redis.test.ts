import { beforeAll } from 'vitest';
import { readyStore } from '../../../../packages/redis/test/support/ready-store.ts';
import { redisServer, type RedisServer } from '../../../redis/servers/redis-server.ts';
import { endCases } from './cases.ts';

let server: RedisServer;

beforeAll(async () => {
  server = await redisServer();
});

endCases('Redis store', () => readyStore({ url: server.url }));
