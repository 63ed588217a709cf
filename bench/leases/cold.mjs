import { accountId, createLimiter } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import { setTimeout as delay } from 'node:timers/promises';
import { times, withSpread } from '../harness/table.mjs';
import { wireBytes } from '../harness/wire.mjs';
import { cpuMicrosOf } from '../redis/cpu.mjs';
import { callsIn } from '../redis/scripts.mjs';
import { RedisServer } from '../redis/server.mjs';
import { CORE } from './stores.mjs';

const BASELINE = 'strict';
const CONTENDERS = [BASELINE, 'Sluice'];
const CASE = 'cold ids';
const AT_ONCE = 200;
/** Until the last buckets are synced. */
const SETTLE_MS = 1000;

/** What an id costs that is asked for once: the process and Redis, with and without leases. */
/** @type {import('../harness/measured.ts').Measured} */
export const coldIds = {
  runs: ({ quick }) =>
    CONTENDERS.map((contender) => ({
      contender,
      case: CASE,
      core: CORE.client,
      settings: { ids: quick ? 4000 : 200_000 },
    })),
  prepare,
  tables: (results) => [tableOf(results)],
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, settings = {} }) {
  const { ids } = /** @type {{ ids: number }} */ (settings);
  const server = await RedisServer.start({ core: CORE.redis });
  const watcher = server.connect();
  const client = server.connect();
  const isLeased = contender !== BASELINE;
  const store = isLeased ? leasedStore({ client, gateways: 4, log: false }) : redisStore({ client, log: false });
  const numbers = { burst: 200, count: 100, period: '1s' };
  const limiter = createLimiter({
    limits: { Calls: { key: accountId(), ...numbers, ...(isLeased && { overshoot: 0.5 }) } },
    store,
    failure: { deadlineMs: 5000 },
  });
  await limiter.ready();
  let next = 0;
  const spendEach = async (/** @type {number} */ count) => {
    for (let left = count; left > 0; left -= AT_ONCE) {
      const asked = Array.from({ length: AT_ONCE }, () => limiter.spend([{ limit: 'Calls', id: `cold-${next++}` }]));
      // oxlint-disable-next-line no-await-in-loop
      await Promise.all(asked);
      // oxlint-disable-next-line no-await-in-loop
      await delay(1);
    }
  };
  await spendEach(ids / 4);
  await delay(SETTLE_MS);
  return async () => {
    const before = await callsOf(watcher);
    const [ofProcess, ofRedis, sent] = [process.cpuUsage(), await cpuMicrosOf(watcher), wireBytes()];
    await spendEach(ids);
    await delay(SETTLE_MS);
    const [{ user, system }, received] = [process.cpuUsage(ofProcess), wireBytes()];
    const redisMicros = ((await cpuMicrosOf(watcher)) - ofRedis) / ids;
    const after = await callsOf(watcher);
    return {
      processMicros: (user + system) / ids,
      redisMicros,
      wireBytes: (received - sent) / ids,
      writes: (after.writes - before.writes) / ids,
      scripts: (after.scripts - before.scripts) / ids,
    };
  };
}

/** @param {import('ioredis').Redis} client */
async function callsOf(client) {
  const stats = await client.info('commandstats');
  return { scripts: callsIn(stats, 'evalsha'), writes: callsIn(stats, 'set') };
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const tenths = (/** @type {number} */ value) => value.toFixed(1);
  const cells = (/** @type {string} */ contender, /** @type {string} */ figure) => [
    withSpread(results.figure(contender, CASE, figure), tenths),
    withSpread(results.ratio(contender, BASELINE, CASE, figure), times),
  ];
  return {
    title: `An id that is asked for once, ${AT_ONCE} of them at a time: µs of processor time`,
    rows: [
      ['', 'process', 'ratio', 'Redis', 'ratio'],
      ...CONTENDERS.map((contender) => [
        contender,
        ...cells(contender, 'processMicros'),
        ...cells(contender, 'redisMicros'),
      ]),
      ['target for Sluice', '', '≤ 1.2×', '', '≤ 0.5×'],
    ],
    notes: ['With its sync, until the bucket is at rest.'],
  };
}
