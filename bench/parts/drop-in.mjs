import { dropIn } from '../contenders/drop-in.mjs';
import { UNCOMPILED } from '../harness/allocated.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';
import { VisitOrder } from '../ids.mjs';
import { rateOf, turnsOf } from '../memory/turns.mjs';
import { decideEach, measuredTurn } from '../redis/in-flight.mjs';
import { RedisServer } from '../redis/server.mjs';

/** @typedef {keyof typeof dropIn} Peer */

const CORE = { redis: 0, client: 1 };
const PEERS = /** @type {Peer[]} */ (Object.keys(dropIn));
const OWN = 'its own';
const REDIS_IDS = 10_000;
const REDIS_RATE = { burst: 1_000_000, intervalMs: 60_000, windowMs: 3_600_000 };

/** The most processor time of our memory store that we want, and how many decisions of a turn are timed. */
const MEMORY = { target: 1.15, decisions: 100_000 };

/** @type {Readonly<Record<string, { ids: number, fresh: boolean }>>} */
const MEMORY_CASES = {
  'one id': { ids: 1, fresh: false },
  '100k ids': { ids: 100_000, fresh: false },
  '100k ids, fresh strings': { ids: 100_000, fresh: true },
};

/**
 * How many are asked for at a time, how many a turn has, and how many times the decisions of its own store we want.
 *
 * @type {Readonly<Record<string, { inFlight: number, decisions: number, target: number }>>}
 */
const REDIS_CASES = {
  '1 in flight': { inFlight: 1, decisions: 500, target: 0.8 },
  '64 in flight': { inFlight: 64, decisions: 10_000, target: 2.5 },
  '512 in flight': { inFlight: 512, decisions: 20_000, target: 3 },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'drop-in: our stores behind other limiters, beside the stores that these have',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) => PEERS.flatMap((peer) => [...memoryRuns(peer, quick), ...redisRuns(peer, quick)]),
  prepare: ({ contender, settings = {} }) => prepared(contender, /** @type {any} */ (settings)),
  counts: {
    cases: PEERS.flatMap((peer) => ['one id', '1 in flight', '64 in flight'].map((name) => caseName(peer, name))),
    figures: { allocatedBytes: 0.1, wireBytes: 0.1 },
  },
  tables: (results) => PEERS.flatMap((peer) => [memoryTable(results, peer), redisTable(results, peer)]),
};

/**
 * @param {Peer} peer
 * @param {boolean} quick
 * @returns {import('../harness/part.ts').Run[]}
 */
function memoryRuns(peer, quick) {
  const fewer = quick ? 20 : 1;
  return Object.entries(MEMORY_CASES).flatMap(([name, { ids, fresh }]) =>
    Object.keys(dropIn[peer].memory).map((contender) => ({
      contender,
      case: caseName(peer, name),
      nodeOptions: quick ? UNCOMPILED : [],
      settings: {
        peer,
        over: 'memory',
        ids: Math.ceil(ids / fewer),
        fresh,
        decisions: MEMORY.decisions / fewer,
        quick,
      },
    })),
  );
}

/**
 * @param {Peer} peer
 * @param {boolean} quick
 * @returns {import('../harness/part.ts').Run[]}
 */
function redisRuns(peer, quick) {
  const fewer = quick ? 10 : 1;
  return Object.entries(REDIS_CASES).flatMap(([name, { inFlight, decisions }]) =>
    Object.keys(dropIn[peer].Redis).map((contender) => ({
      contender,
      case: caseName(peer, name),
      core: CORE.client,
      settings: { peer, over: 'Redis', inFlight, decisions: decisions / fewer, warmUp: quick ? 100 : 5 * decisions },
    })),
  );
}

/**
 * @param {string} peer
 * @param {string} name
 */
function caseName(peer, name) {
  return `${peer}, ${name}`;
}

/**
 * @param {string} contender
 * @param {{ peer: Peer, decisions: number } & ({ over: 'memory', ids: number, fresh: boolean, quick: boolean } |
 *   { over: 'Redis', inFlight: number, warmUp: number })} settings
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepared(contender, settings) {
  const { peer, decisions } = settings;
  if (settings.over === 'memory') {
    const { ids, fresh, quick } = settings;
    const settingsOf = { rate: rateOf(ids, false), limits: 1, maxKeys: ids };
    const decider = named(contender, dropIn[peer].memory).decider(settingsOf);
    return turnsOf(decider, { ids, fresh, decisions, atOnce: false, allowed: true, quick });
  }
  const { inFlight, warmUp } = settings;
  const server = await RedisServer.start({ core: CORE.redis });
  const decide = await named(contender, dropIn[peer].Redis)(server.connect(), REDIS_RATE);
  const order = new VisitOrder(REDIS_IDS);
  await decideEach(decide, order.next(warmUp), inFlight);
  return () => measuredTurn(decide, order, { decisions, inFlight });
}

/**
 * @template T
 * @param {string} contender
 * @param {Readonly<Record<string, T | undefined>>} contenders
 * @returns {T}
 */
function named(contender, contenders) {
  const found = contenders[contender];
  if (found === undefined) throw new Error(`No contender is named ${contender}.`);
  return found;
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {Peer} peer
 * @returns {import('../harness/part.ts').Table}
 */
function memoryTable(results, peer) {
  const names = Object.keys(MEMORY_CASES);
  const rows = Object.keys(dropIn[peer].memory).map((contender) => [
    contender,
    ...names.map((name) => {
      const figure = results.figure(contender, caseName(peer, name), 'nanoseconds');
      const ratio = results.ratio(contender, OWN, caseName(peer, name), 'nanoseconds');
      return figure === undefined ? '–' : `${whole(figure.median)}  ${withSpread(ratio, times)}`;
    }),
  ]);
  return {
    title: `${peer}, in memory: ns of processor time for a request, and × its own store`,
    rows: [['', ...names], ...rows, ['target for Sluice', ...names.map(() => `≤ ${times(MEMORY.target)}`)]],
  };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {Peer} peer
 * @returns {import('../harness/part.ts').Table}
 */
function redisTable(results, peer) {
  const names = Object.keys(REDIS_CASES);
  const rows = Object.keys(dropIn[peer].Redis).map((contender) => [
    contender,
    ...names.flatMap((name) => {
      const of = caseName(peer, name);
      return [
        withSpread(results.figure(contender, of, 'decisionsPerSecond'), whole),
        withSpread(results.ratio(contender, OWN, of, 'decisionsPerSecond'), times),
        withSpread(results.figure(contender, of, 'clientCpuMicros'), tenths),
      ];
    }),
  ]);
  const targets = Object.values(REDIS_CASES).flatMap(({ target }) => ['', `≥ ${times(target)}`, '']);
  return {
    title: `${peer}, over Redis: requests per second, × its own store, and CPU µs of the process`,
    rows: [['', ...names.flatMap((name) => [name, '', ''])], ...rows, ['target for Sluice', ...targets]],
  };
}
