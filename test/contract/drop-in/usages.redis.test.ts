// The same usages on Redis: with the stores of these limiters for it, and with ours.
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { rateLimitStore } from '@sluice/drop-in/express-rate-limit';
import { rateLimitStore as fastifyStore } from '@sluice/drop-in/fastify-rate-limit';
import { redisStore, type RedisStore, type RedisStoreOptions } from '@sluice/redis';
import { Redis } from 'ioredis';
import type { Options, RedisReply } from 'rate-limit-redis';
import { createClient, createCluster } from 'redis';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { sharedCluster } from '../../redis/servers/shared-cluster.ts';
import { betterAuthUsages, type BetterAuthStores } from './usages/better-auth.ts';
import { usagesCompared } from './usages/compared.ts';
import { expressUsages, type ExpressStores } from './usages/express-rate-limit.ts';
import { fastifyUsages, type FastifyStores } from './usages/fastify-rate-limit.ts';
import { honoUsages, type HonoStores } from './usages/hono-rate-limiter.ts';
import { mcpUsages } from './usages/mcp-sdk.ts';
import { peer } from './usages/peers.ts';

type RateLimitRedisLibrary = typeof import('rate-limit-redis');
type HonoRateLimiter = typeof import('hono-rate-limiter');

const server = await redisServer();
const { addresses } = await sharedCluster();
const ioredis = new Redis(server.port);
const nodeRedis = await createClient({ url: server.url }).connect();
const cluster = await createCluster({ rootNodes: addresses.map((socket) => ({ socket })) }).connect();
running.add({
  async close() {
    ioredis.disconnect();
    nodeRedis.destroy();
    await cluster.close();
  },
});

/** The machine may do other work, and what the failure policy decided would not be what the store does. */
const failure = { deadlineMs: 20_000, onFailure: 'closed' } as const;

async function connected(client: RedisStoreOptions['client']): Promise<RedisStore> {
  const store = redisStore({ client: client!, log: false });
  running.add({ close: () => store.close() });
  await store.ready();
  return store;
}

const [onIoredis, onNodeRedis, onCluster] = await Promise.all([ioredis, nodeRedis, cluster].map(connected));
let limiters = 0;

/** The two stores of a limiter, each with a name of its own. */
function expressStores(store: RedisStore, own: Options): ExpressStores {
  return {
    own: () => new RateLimitRedis({ ...own, prefix: `own-${++limiters}:` }),
    ours: (options) => rateLimitStore({ store, failure, name: `${++limiters}`, log: false, ...options }),
  };
}

// The oldest has no other export.
const { default: RateLimitRedis } = (await peer('rate-limit-redis')) as RateLimitRedisLibrary;
/** Since version 4.3. */
const KNOWS_CLUSTERS = String(RateLimitRedis).includes('sendCommandCluster');
const ioredisStores = expressStores(onIoredis!, {
  sendCommand: (command: string, ...args: string[]) => ioredis.call(command, ...args) as Promise<RedisReply>,
});
const nodeRedisStores = expressStores(onNodeRedis!, {
  sendCommand: (...args: string[]) => nodeRedis.sendCommand(args),
});
const clusterStores = expressStores(onCluster!, {
  sendCommandCluster: ({ key, isReadOnly, command }) => cluster.sendCommand(key, isReadOnly, command),
});

const { RedisStore: HonoRedisStore } = (await peer('hono-rate-limiter')) as HonoRateLimiter;
const honoStores: HonoStores = {
  own: () =>
    new HonoRedisStore({
      prefix: `own-${++limiters}:`,
      // What its documentation takes from a client for HTTP.
      client: {
        scriptLoad: (script) => nodeRedis.scriptLoad(script),
        evalsha: (sha, keys, args) => nodeRedis.evalSha(sha, { keys, arguments: args.map(String) }) as Promise<never>,
        decr: (key) => nodeRedis.decr(key),
        del: (key) => nodeRedis.del(key),
      },
    }),
  ours: nodeRedisStores.ours,
};

const fastifyStores: FastifyStores = {
  own: () => ({ redis: ioredis, nameSpace: `own-${++limiters}-` }),
  ours: () => fastifyStore({ store: onIoredis!, failure, name: `${++limiters}`, log: false }),
};

const INCREMENT = `
  local count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
  return count`;
const betterAuthStores: BetterAuthStores = {
  own: () => ({
    storage: 'secondary-storage',
    secondaryStorage: {
      get: (key) => nodeRedis.get(key),
      set: (key, value, ttl) => nodeRedis.set(key, value, ttl === undefined ? {} : { EX: ttl }),
      getAndDelete: (key) => nodeRedis.getDel(key),
      delete: async (key) => void (await nodeRedis.del(key)),
      increment: (key, ttl) => nodeRedis.eval(INCREMENT, { keys: [key], arguments: [`${ttl}`] }) as Promise<number>,
    },
  }),
  ours: () => rateLimitStorage({ store: onNodeRedis!, failure, name: `${++limiters}`, log: false }),
};

usagesCompared([
  ['rate-limit-redis on ioredis', expressUsages('express-rate-limit', ioredisStores)],
  ['rate-limit-redis on node-redis', expressUsages('express-rate-limit', nodeRedisStores)],
  ...(KNOWS_CLUSTERS
    ? [['rate-limit-redis on a cluster of node-redis', expressUsages('express-rate-limit', clusterStores)] as const]
    : []),
  ['the auth router of the MCP SDK on rate-limit-redis', mcpUsages(nodeRedisStores)],
  ['hono-rate-limiter on Redis', honoUsages(honoStores)],
  ['@fastify/rate-limit on Redis', fastifyUsages(fastifyStores)],
  ['better-auth on its secondary storage', betterAuthUsages(betterAuthStores)],
]);
