import { setTimeout as wait } from 'node:timers/promises';
import { overRedis } from '../contenders/over-redis.mjs';
import { VisitOrder } from '../ids.mjs';
import { decideEach } from '../redis/in-flight.mjs';
import { deciding } from '../redis/processes.mjs';
import { scriptsOf } from '../redis/scripts.mjs';
import { RedisServer } from '../redis/server.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';
import { wireBytes } from '../harness/wire.mjs';

const CORE = { redis: 0, client: 1 };
const HOUR_MS = 3_600_000;
const RATE = { burst: 1_000_000, intervalMs: 60_000, windowMs: HOUR_MS };
const IDS = 10_000;
const PEERS = ['rate-limiter-flexible', 'rate-limit-redis', '@fastify/rate-limit', 'koa-ratelimit'];

/** The contenders in several processes: all would be too many processes. */
const IN_PROCESSES = ['a GCRA script', 'Sluice', 'rate-limiter-flexible'];

/** What share of a turn comes before the part of it that is measured. */
const LEAD_IN = 0.2;
const WARM_UP_DECISIONS = 50_000;

/** How long Redis takes to move its tables in the background. */
const SETTLING_MS = 300;

/**
 * How many decisions are asked for at a time, how many a turn has, and how many times the best peer's we want. A turn has
 * so many that its end, when fewer and fewer are in flight, does not count for much.
 *
 * @type {Readonly<Record<string, { inFlight: number, decisions: number, target: number, processes?: number }>>}
 */
const CASES = {
  '1 in flight': { inFlight: 1, decisions: 500, target: 0.95 },
  '64 in flight': { inFlight: 64, decisions: 10_000, target: 2 },
  '512 in flight': { inFlight: 512, decisions: 20_000, target: 2.5 },
  '64 in flight, 16 processes': { inFlight: 64, decisions: 10_000, target: 1, processes: 16 },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'redis: decisions per second of one process, and what they cost',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { inFlight, decisions, processes = 1 }]) =>
      (processes === 1 ? Object.keys(overRedis) : IN_PROCESSES).map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: quick
          ? { decisions: decisions / 10, ids: IDS / 100, warmUp: 100 }
          : { decisions, ids: IDS, warmUp: inFlight === 1 ? WARM_UP_DECISIONS / 5 : WARM_UP_DECISIONS },
      })),
    ),
  prepare,
  counts: { cases: ['1 in flight', '64 in flight'], figures: { scripts: 0.25, wireBytes: 0.1 } },
  tables: (results) => Object.keys(CASES).map((name) => tableOf(results, name)),
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { decisions, ids, warmUp } = /** @type {{ decisions: number, ids: number, warmUp: number }} */ (settings);
  const { inFlight, processes = 1 } = /** @type {typeof CASES[string]} */ (CASES[name]);
  const server = await RedisServer.start({ core: CORE.redis });
  const watcher = server.connect();
  if (processes > 1) {
    const decided = { contender, rate: RATE, ids, inFlight };
    const decideMany = await deciding(server.port, decided, { processes, core: CORE.client });
    await decideMany(ids + warmUp);
    return () => turnOf(watcher, decideMany, decisions);
  }
  const decide = await overRedis[contender]?.(server.connect(), RATE);
  if (decide === undefined) throw new Error(`No contender is named ${contender}.`);
  const order = new VisitOrder(ids);
  const decideAll = (/** @type {Uint32Array} */ visits) => decideEach(decide, visits, inFlight);
  await decide('first');
  const empty = await bytesUsed(watcher);
  await decideAll(order.next(ids));
  const redisBytes = ((await bytesUsed(watcher)) - empty) / ids;
  await decideAll(order.next(warmUp));
  return async () => {
    // The processors' caches are still those of the others.
    await decideAll(order.next(decisions * LEAD_IN));
    const visits = order.next(decisions);
    const before = await sample(watcher);
    const sent = wireBytes();
    await decideAll(visits);
    const received = wireBytes();
    const after = await sample(watcher);
    return {
      decisionsPerSecond: (decisions * 1000) / (after.atMs - before.atMs),
      clientCpuMicros: (after.clientMicros - before.clientMicros) / decisions,
      redisCpuMicros: (after.redisMicros - before.redisMicros) / decisions,
      redisBytes,
      scripts: (after.scripts - before.scripts) / decisions,
      wireBytes: (received - sent) / decisions,
    };
  };
}

/**
 * @param {import('ioredis').Redis} watcher
 * @param {(decisions: number) => Promise<number>} decideMany Gives the processor time of it.
 * @param {number} decisions
 */
async function turnOf(watcher, decideMany, decisions) {
  await decideMany(decisions * LEAD_IN);
  const before = await sample(watcher);
  const clientMicros = await decideMany(decisions);
  const after = await sample(watcher);
  return {
    decisionsPerSecond: (decisions * 1000) / (after.atMs - before.atMs),
    clientCpuMicros: clientMicros / decisions,
    redisCpuMicros: (after.redisMicros - before.redisMicros) / decisions,
  };
}

/** @param {import('ioredis').Redis} client */
async function sample(client) {
  const scripts = await scriptsOf(client);
  const info = await client.info('cpu');
  const redisMicros = (numberOf(info, 'used_cpu_user') + numberOf(info, 'used_cpu_sys')) * 1e6;
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), redisMicros, clientMicros: user + system, scripts };
}

/**
 * What is stored takes: without the buffers of clients, and when Redis has ended to copy tables that have grown.
 *
 * @param {import('ioredis').Redis} client
 */
async function bytesUsed(client) {
  await wait(SETTLING_MS);
  const info = await client.info('memory');
  return numberOf(info, 'used_memory') - numberOf(info, 'mem_clients_normal');
}

/**
 * @param {string} info
 * @param {string} field
 */
function numberOf(info, field) {
  const value = new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1];
  if (value === undefined) throw new Error(`Redis told no ${field}.`);
  return Number(value);
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} name
 */
function tableOf(results, name) {
  const best = bestPeer(results, name);
  const rows = results.contenders.map((contender) => [
    contender,
    withSpread(results.figure(contender, name, 'decisionsPerSecond'), whole),
    withSpread(results.ratio(contender, best, name, 'decisionsPerSecond'), times),
    withSpread(results.figure(contender, name, 'clientCpuMicros'), tenths),
    withSpread(results.figure(contender, name, 'redisCpuMicros'), tenths),
    withSpread(results.figure(contender, name, 'redisBytes'), whole),
  ]);
  return {
    title: name,
    rows: [
      ['', 'decisions per second', `× ${best}`, 'client CPU µs', 'Redis CPU µs', 'Redis bytes per id'],
      ...rows,
      ['target for Sluice', '', `≥ ${times(/** @type {typeof CASES[string]} */ (CASES[name]).target)}`, '', '', ''],
    ],
    notes: [`${best} is the fastest of the peers here.`],
  };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} name
 */
function bestPeer(results, name) {
  const perSecond = (/** @type {string} */ peer) => results.figure(peer, name, 'decisionsPerSecond')?.median ?? 0;
  return PEERS.reduce((best, peer) => (perSecond(peer) > perSecond(best) ? peer : best));
}
