import { leasedStore } from '@sluice/redis';
import { openService, startServers } from '@sluice/serve';
import { callsIn } from '../redis/scripts.mjs';
import { RedisServer } from '../redis/server.mjs';
import { DOMAIN, KEY, LIMIT } from './message.mjs';

/** So many tokens that nobody is denied, and so slow that every id stays in debt. */
const NUMBERS = { burst: 1_000_000, count: 1_000_000, period: '30d', idFormat: 'accountId' };

/**
 * The service of `sluice serve` with one rate, on the memory of its process.
 *
 * @returns {Promise<{ port: number }>}
 */
export async function sluice() {
  return { port: await started({ [LIMIT]: NUMBERS }) };
}

/**
 * The same with leases of a Redis, which has a core of its own where cores can be chosen.
 *
 * @param {number} redisCore
 */
export async function sluiceWithLeases(redisCore) {
  const redis = await RedisServer.start({ core: redisCore });
  const watcher = redis.connect();
  const store = leasedStore({ client: redis.connect(), gateways: 2, log: false });
  await store.ready();
  const port = await started({ [LIMIT]: { ...NUMBERS, overshoot: 0.5 } }, store);
  const inRedis = async () => {
    const stats = await watcher.info('commandstats');
    return { redisCalls: callsIn(stats, 'evalsha'), redisWrites: callsIn(stats, 'set') };
  };
  return { port, inRedis };
}

/**
 * @param {object} limits
 * @param {import('@sluice/core').Store} [store]
 */
async function started(limits, store) {
  const tables = { envoy: { [DOMAIN]: { rules: [{ descriptor: [KEY], limit: LIMIT }] } } };
  const service = await openService({
    limits: () => limits,
    tables: () => tables,
    everyMs: false,
    ...(store !== undefined && { store }),
  });
  const { ports } = await startServers(service, { grpc: { host: '127.0.0.1', port: 0 } });
  return Number(ports.grpc);
}
