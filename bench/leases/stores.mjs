import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { leasedStore } from '@sluice/redis';
import { scriptsOf } from '../redis/scripts.mjs';
import { RedisServer } from '../redis/server.mjs';

export const CORE = { redis: 0, client: 1 };

/** What a decision by leases is compared with. */
export const BASELINE = 'memory store';

export const CONTENDERS = [BASELINE, 'Sluice'];

/**
 * @typedef {object} Decider
 * @property {import('@sluice/core').Limiter} limiter
 * @property {import('@sluice/core').Store} store
 * @property {() => Promise<number>} calls How many scripts Redis has run.
 */

/**
 * A limiter with one limit, `Calls`: with leases and a Redis of its own, or in memory.
 *
 * @param {string} contender
 * @param {import('@sluice/core').Rate} numbers
 * @param {number} gateways
 * @returns {Promise<Decider>}
 */
export async function deciderOf(contender, numbers, gateways) {
  const limits = { Calls: { key: accountId(), ...numbers } };
  if (contender === BASELINE) {
    const store = memoryStore();
    return { limiter: createLimiter({ limits, store }), store, calls: () => Promise.resolve(0) };
  }
  const server = await RedisServer.start({ core: CORE.redis });
  const watcher = server.connect();
  const store = leasedStore({ client: server.connect(), gateways, log: false });
  await store.ready();
  return { limiter: createLimiter({ limits, store }), store, calls: () => scriptsOf(watcher) };
}
