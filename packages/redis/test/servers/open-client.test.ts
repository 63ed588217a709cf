import { createSentinel } from 'redis';
import { createSentinel as createSentinel5 } from 'redis5';
import { describe, expect, test } from 'vitest';
import { openClient, type RedisClient } from '../../src/open-client.ts';
import { testScript } from '../ioredis/support/scripts.ts';

const NODE = { host: '127.0.0.1', port: 1 };

describe('a client of node-redis for Sentinels', () => {
  test.each<[name: string, client: unknown, message: RegExp]>([
    ['createSentinel of 6', createSentinel({ name: 'a', sentinelRootNodes: [NODE] }), /'Sentinels of node-redis'/],
    ['createSentinel of 5', createSentinel5({ name: 'a', sentinelRootNodes: [NODE] }), /'Sentinels of node-redis'/],
  ])('is rejected, and the error names what to give: %s', (_, client, message) => {
    const open = () => openClient({ client: client as RedisClient, script: testScript, caller: 'redisStore' });
    expect(open).toThrow(message);
    expect(open).toThrow(/Give new Redis\(.*of ioredis/);
  });
});
