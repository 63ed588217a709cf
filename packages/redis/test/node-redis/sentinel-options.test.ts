import { createSentinel } from 'redis';
import { describe, expect, test } from 'vitest';
import { openClient, type RedisClient } from '../../src/open-client.ts';
import { testScript } from '../ioredis/support/scripts.ts';

const SENTINELS = { name: 'limits', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] };
const withProvider = {
  credentialsProvider: {
    type: 'async-credentials-provider' as const,
    credentials: async () => ({ password: 'secret' }),
  },
};

describe('a client for Sentinels of node-redis', () => {
  test.each<[name: string, client: unknown, message: RegExp]>([
    [
      'of another version, which hides its options',
      Object.assign(createSentinel(SENTINELS), { duplicate: undefined }),
      /^`client` must be of node-redis 6, if it is .*Update node-redis, or give new Redis\(\{ sentinels, name \}\) of ioredis\.$/,
    ],
    [
      'with changing credentials of servers',
      createSentinel({ ...SENTINELS, nodeClientOptions: withProvider }),
      /but was 'one with a `credentialsProvider` in its `nodeClientOptions`'\. Give these two/,
    ],
    [
      'with changing credentials of Sentinels',
      createSentinel({ ...SENTINELS, sentinelClientOptions: withProvider }),
      /but was 'one with a `credentialsProvider` in its `sentinelClientOptions`'\. Give these two/,
    ],
  ])('is rejected, and the error names what to give: %s', (_, client, message) => {
    const open = () => openClient({ client: client as RedisClient, script: testScript, caller: 'redisStore' });
    expect(open).toThrow(expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringMatching(message) }));
  });
});
