import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { idsOf, ZipfOrder, VisitOrder } from '../ids.mjs';
import { tenths, whole, withSpread } from '../harness/table.mjs';
import { longestTurn } from '../turns.mjs';
import { BASELINE, CONTENDERS, CORE, deciderOf } from './stores.mjs';

const GATEWAYS = 4;
const NUMBERS = { burst: 200, count: 100, period: '1s', overshoot: 0.5 };
const INTERVAL_MS = 200;
const CALLS_TARGET = 1.5;
const DELAY_TARGET_MS = 10;
const TURN_TARGET_MS = 5;

/** A process that is late decides at most so many at a time, as a server that reads its sockets. */
const MOST_PER_TURN = 2000;

/**
 * Requests that come at a rate, whether or not the process keeps up.
 *
 * @type {Readonly<Record<string, { perSecond: number, ids: number, zipf?: boolean, callsTarget?: number, delayTargetMs?: number }>>}
 */
const LOADS = {
  '1,000 a second, 20k ids, Zipf': { perSecond: 1000, ids: 20_000, zipf: true, callsTarget: CALLS_TARGET },
  '10,000 a second, 20k ids, Zipf': { perSecond: 10_000, ids: 20_000, zipf: true },
  '100,000 a second, 10k ids': { perSecond: 100_000, ids: 10_000, delayTargetMs: DELAY_TARGET_MS },
};
const AT_ONCE = '20k ids at once';
const IDS_AT_ONCE = 20_000;
const DECISIONS_PER_TURN = 100;

/** What a process does under load, and how often it calls Redis. */
/** @type {import('../harness/measured.ts').Measured} */
export const loads = {
  runs: ({ quick }) =>
    [...Object.keys(LOADS), AT_ONCE].flatMap((name) =>
      CONTENDERS.map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: { fewer: quick ? 10 : 1, forMs: quick ? 300 : 1000 },
      })),
    ),
  prepare,
  tables: (results) => [loadsTable(results), turnsTable(results)],
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { fewer, forMs } = /** @type {{ fewer: number, forMs: number }} */ (settings);
  const decider = await deciderOf(contender, NUMBERS, GATEWAYS);
  if (name === AT_ONCE) return () => measureAtOnce(decider, IDS_AT_ONCE / fewer, forMs);
  const { perSecond, ids, zipf = false } = /** @type {typeof LOADS[string]} */ (LOADS[name]);
  const order = zipf ? new ZipfOrder(ids / fewer) : new VisitOrder(ids / fewer);
  const load = { perSecond: perSecond / fewer, order };
  await offer(decider.limiter, load, 2 * forMs);
  return () => measureLoad(decider, load, forMs);
}

/**
 * @param {import('./stores.mjs').Decider} decider
 * @param {{ perSecond: number, order: VisitOrder | ZipfOrder }} load
 * @param {number} forMs
 */
async function measureLoad({ limiter, calls }, load, forMs) {
  const callsBefore = await calls();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const { decided, waited, elapsedMs } = await offer(limiter, load, forMs);
  delays.disable();
  return {
    perSecond: (1000 * decided) / elapsedMs,
    callsPerInterval: (((await calls()) - callsBefore) * INTERVAL_MS) / elapsedMs,
    waitedPercent: (100 * waited) / decided,
    delayP99Ms: delays.percentile(99) / 1e6,
    delayMaxMs: delays.max / 1e6,
  };
}

/**
 * @param {import('@sluice/core').Limiter} limiter
 * @param {{ perSecond: number, order: VisitOrder | ZipfOrder }} load
 * @param {number} forMs
 */
async function offer(limiter, { perSecond, order }, forMs) {
  const startMs = performance.now();
  let decided = 0;
  let waited = 0;
  let turn = 0;
  let elapsedMs = 0;
  do {
    elapsedMs = performance.now() - startMs;
    const due = Math.floor((elapsedMs * perSecond) / 1000) - decided;
    for (const n of order.next(Math.min(due, MOST_PER_TURN))) {
      const asked = turn;
      void limiter.spend([{ limit: 'Calls', id: idsOf['account ids'](n) }]).then(() => {
        if (turn !== asked) waited++;
      });
      decided++;
    }
    // After the promises that are resolved by now, and before the next answer of Redis.
    process.nextTick(() => turn++);
    // oxlint-disable-next-line no-await-in-loop
    await delay(1);
    // What was due at the end is decided, too: on a busy machine the first turn may be the only one.
  } while (elapsedMs < forMs);
  return { decided, waited, elapsedMs: performance.now() - startMs };
}

/**
 * The longest turn while very many buckets are used and then synced together.
 *
 * @param {import('./stores.mjs').Decider} decider
 * @param {number} ids
 * @param {number} forMs
 */
async function measureAtOnce({ limiter, calls }, ids, forMs) {
  const callsBefore = await calls();
  const endMs = performance.now() + forMs;
  const decide = (/** @type {number} */ n) =>
    n < ids ? limiter.spend([{ limit: 'Calls', id: idsOf['account ids'](n) }]) : undefined;
  const isOver = (/** @type {number} */ steps) => steps >= ids && performance.now() >= endMs;
  const longest = await longestTurn(decide, { perTurn: DECISIONS_PER_TURN, isOver });
  return { ...longest, calls: (await calls()) - callsBefore };
}

/** @param {import('../harness/results.mjs').Results} results */
function loadsTable(results) {
  const rows = Object.entries(LOADS).flatMap(([name, { callsTarget, delayTargetMs }]) => [
    ...CONTENDERS.map((contender) => [
      `${name}: ${contender}`,
      withSpread(results.figure(contender, name, 'perSecond'), whole),
      withSpread(results.figure(contender, name, 'callsPerInterval'), tenths),
      withSpread(results.figure(contender, name, 'waitedPercent'), tenths),
      withSpread(results.figure(contender, name, 'delayP99Ms'), tenths),
      withSpread(results.figure(contender, name, 'delayMaxMs'), tenths),
    ]),
    [
      '  target for Sluice',
      '',
      callsTarget === undefined ? '' : `≤ ${callsTarget}`,
      '',
      delayTargetMs === undefined ? '' : `≤ ${delayTargetMs}`,
      '',
    ],
  ]);
  return {
    title: `One of ${GATEWAYS} processes, 100 a second and burst 200 with an overshoot of 0.5`,
    rows: [['', 'decisions/s', `calls in ${INTERVAL_MS} ms`, 'waited %', 'loop delay p99, ms', 'longest, ms'], ...rows],
    notes: [
      `A call has at most 250 buckets. The delay of the event loop is measured every millisecond; that of the ${BASELINE}`,
      'is the noise of the machine.',
    ],
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function turnsTable(results) {
  const rows = CONTENDERS.map((contender) => [
    contender,
    withSpread(results.figure(contender, AT_ONCE, 'busyMs'), tenths),
    withSpread(results.figure(contender, AT_ONCE, 'gcMs'), tenths),
    withSpread(results.figure(contender, AT_ONCE, 'wallMs'), tenths),
    withSpread(results.figure(contender, AT_ONCE, 'calls'), whole),
  ]);
  return {
    title: `The longest turn while ${whole(IDS_AT_ONCE)} buckets are used and synced, ${DECISIONS_PER_TURN} decisions a turn, ms`,
    rows: [
      ['', 'longest', 'of it gc', 'by the wall clock', 'calls'],
      ...rows,
      ['target for Sluice', `≤ ${TURN_TARGET_MS}`, '', '', ''],
    ],
  };
}
