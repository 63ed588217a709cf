import { inProgress } from '../contenders/in-progress.mjs';
import { RedisServer } from '../redis/server.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';
import { wireBytes } from '../harness/wire.mjs';

const CORE = { redis: 0, client: 1 };
const CONCURRENCY = 1_000_000;
const PEER = 'redis-semaphore';
const LEAD_IN = 0.2;

/**
 * How many requests are in progress at a time, how many a turn has, and how many slots other processes hold meanwhile.
 *
 * @type {Readonly<Record<string, { inFlight: number, requests: number, heldByOthers: number }>>}
 */
const CASES = {
  '1 in flight': { inFlight: 1, requests: 500, heldByOthers: 10 },
  '64 in flight': { inFlight: 64, requests: 5000, heldByOthers: 10 },
  '512 in flight': { inFlight: 512, requests: 10_000, heldByOthers: 10 },
  '1 in flight, 1,000 held': { inFlight: 1, requests: 500, heldByOthers: 1000 },
  '1 in flight, 100,000 held': { inFlight: 1, requests: 500, heldByOthers: 100_000 },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'concurrency: requests that take a slot of one limit and release it, and what they cost',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { requests, heldByOthers }]) =>
      Object.keys(inProgress).map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: quick
          ? { requests: requests / 10, warmUp: 100, heldByOthers: Math.min(heldByOthers, 1000) }
          : { requests, warmUp: 5000, heldByOthers },
      })),
    ),
  prepare,
  counts: {
    cases: ['1 in flight', '64 in flight', '1 in flight, 1,000 held'],
    figures: { redisCalls: 0.25, wireBytes: 0.1 },
  },
  tables: (results) => Object.keys(CASES).map((name) => tableOf(results, name)),
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { requests, warmUp, heldByOthers } = /** @type {{ requests: number, warmUp: number, heldByOthers: number }} */ (
    settings
  );
  const { inFlight } = /** @type {typeof CASES[string]} */ (CASES[name]);
  const server = await RedisServer.start({ core: CORE.redis });
  const watcher = server.connect();
  const hold = await inProgress[contender]?.(server.connect(), CONCURRENCY);
  if (hold === undefined) throw new Error(`No contender is named ${contender}.`);
  // The key of the contender, with its own kind of score, exists while a slot is held.
  await fill(watcher, heldByOthers);
  await holdEach(hold, warmUp, inFlight);
  return async () => {
    // The processors' caches are still those of the others.
    await holdEach(hold, Math.ceil(requests * LEAD_IN), inFlight);
    const before = await sample(watcher);
    const sent = wireBytes();
    const latencies = await holdEach(hold, requests, inFlight);
    const received = wireBytes();
    const after = await sample(watcher);
    return {
      requestsPerSecond: (requests * 1000) / (after.atMs - before.atMs),
      medianMicros: 1000 * (latencies.toSorted((a, b) => a - b)[Math.floor(requests / 2)] ?? NaN),
      wireBytes: (received - sent) / requests,
      redisCalls: (after.calls - before.calls) / requests,
      scriptMicros: (after.micros - before.micros) / requests,
    };
  };
}

/**
 * Holds slots for an hour, in the formats of Sluice and of redis-semaphore, which use different keys.
 *
 * @param {import('ioredis').Redis} client
 * @param {number} count
 */
async function fill(client, count) {
  const [seconds = 0] = await client.time();
  const leaseSeconds = 3600;
  const nowMs = (seconds - 1_767_225_600) * 1000;
  const [score, clock] = [(nowMs + 1000 * leaseSeconds) * 4096 + leaseSeconds, nowMs * 4096 + leaseSeconds];
  await client.zadd('sluice:InFlight:backend@slots', clock, 'clock');
  for (let first = 0; first < count; first += 1000) {
    const members = Array.from({ length: Math.min(1000, count - first) }, (_, i) => `other-${first + i}:1`);
    // oxlint-disable-next-line no-await-in-loop -- a thousand at a time
    await client.zadd('sluice:InFlight:backend@slots', ...members.flatMap((member) => [score, member]));
    // oxlint-disable-next-line no-await-in-loop
    await client.zadd('semaphore:backend', ...members.flatMap((member) => [Date.now() + 1000 * leaseSeconds, member]));
  }
}

/**
 * Holds a slot so many times, so many at a time.
 *
 * @param {import('../contenders/in-progress.mjs').Hold} hold
 * @param {number} requests
 * @param {number} inFlight
 * @returns {Promise<number[]>} The milliseconds of each.
 */
async function holdEach(hold, requests, inFlight) {
  /** @type {number[]} */
  const latencies = [];
  let next = 0;
  const one = async () => {
    while (next++ < requests) {
      const startMs = performance.now();
      // oxlint-disable-next-line no-await-in-loop
      await hold();
      latencies.push(performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return latencies;
}

/**
 * The calls of scripts and of `ZREM` by clients, and the time of both in Redis. The `ZREM` of a script is a part of its time,
 * and is not counted again.
 *
 * @param {import('ioredis').Redis} client
 */
async function sample(client) {
  const info = await client.info('commandstats');
  const scripts = statOf(info, 'evalsha');
  // redis-semaphore releases without a script, and takes without ZREM.
  const releases = statOf(info, 'zscore').calls > 0 ? { calls: 0, micros: 0 } : statOf(info, 'zrem');
  const atMs = performance.now();
  return { atMs, calls: scripts.calls + releases.calls, micros: scripts.micros + releases.micros };
}

/**
 * @param {string} info
 * @param {string} command
 */
function statOf(info, command) {
  const [, calls = '0', micros = '0'] =
    new RegExp(`^cmdstat_${command}:calls=(\\d+),usec=(\\d+)`, 'm').exec(info) ?? [];
  return { calls: Number(calls), micros: Number(micros) };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} name
 */
function tableOf(results, name) {
  const rows = results.contenders.map((contender) => [
    contender,
    withSpread(results.figure(contender, name, 'requestsPerSecond'), whole),
    withSpread(results.ratio(contender, PEER, name, 'requestsPerSecond'), times),
    withSpread(results.figure(contender, name, 'medianMicros'), whole),
    withSpread(results.figure(contender, name, 'redisCalls'), hundredths),
    withSpread(results.figure(contender, name, 'scriptMicros'), tenths),
  ]);
  return {
    title: name,
    rows: [['', 'requests per second', `× ${PEER}`, 'median latency µs', 'Redis calls each', 'Redis µs each'], ...rows],
    notes: [
      'A request is one acquire and one release. Redis µs is the time of their commands in Redis (commandstats).',
    ],
  };
}

/** @param {number} value */
function hundredths(value) {
  return value.toFixed(2);
}
