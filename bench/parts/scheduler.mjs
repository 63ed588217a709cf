import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { allocatedBytes, UNCOMPILED } from '../harness/allocated.mjs';
import { times, withSpread } from '../harness/table.mjs';

const entries = [{ limit: /** @type {const} */ ('Api'), id: 'everyone' }];
const AMONG = [100_000, 1000];
const LEAVES = 'a call that leaves';

/** @typedef {() => Promise<unknown>} Work */

/** Each case: what works, and what it is compared with. */
const CASES = {
  'a call that begins at once': { Sluice: () => scheduled(), 'limiter.run': () => unscheduled() },
  [LEAVES]: { Sluice: () => left(AMONG[0]), 'among 1,000': () => left(AMONG[1]) },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'scheduler: calls that begin at once, and that leave among many that wait, with the memory store',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, works]) =>
      Object.keys(works).map((contender) => ({
        contender,
        case: name,
        nodeOptions: quick ? UNCOMPILED : [],
        settings: { calls: quick ? 2000 : 20_000, quick },
      })),
    ),
  prepare: async ({ contender, case: name, settings = {} }) => {
    const { calls, quick } = /** @type {{ calls: number, quick: boolean }} */ (settings);
    const work = worksOf(name)[contender]?.();
    if (work === undefined) throw new Error(`No contender is named ${contender}.`);
    await repeated(work, calls);
    if (quick) return async () => ({ allocatedBytes: await allocatedBytes(() => repeated(work, calls), calls) });
    return async () => {
      // The processors' caches are still those of the others.
      await repeated(work, Math.ceil(calls / 5));
      const before = process.cpuUsage();
      await repeated(work, calls);
      const { user, system } = process.cpuUsage(before);
      return { micros: (user + system) / calls };
    };
  },
  counts: { cases: Object.keys(CASES), figures: { allocatedBytes: 0.1 } },
  tables: (results) => [tableOf(results)],
};

/**
 * @param {string} name
 * @returns {Record<string, () => Work>}
 */
function worksOf(name) {
  return /** @type {Record<string, any>} */ (CASES)[name];
}

/**
 * @param {Work} work
 * @param {number} calls
 */
async function repeated(work, calls) {
  for (let i = 0; i < calls; i++) await work();
}

async function call() {
  return 'answer';
}

/** @param {number} count */
function limiterOf(count) {
  return createLimiter({ limits: { Api: { key: everyone(), burst: count, count, period: '1h' } }, log: false });
}

/** @returns {Work} */
function scheduled() {
  const scheduler = createScheduler(limiterOf(1_000_000_000));
  return () => scheduler.run(entries, call);
}

/** @returns {Work} */
function unscheduled() {
  const limiter = limiterOf(1_000_000_000);
  return () => limiter.run(entries, call);
}

/**
 * @param {number | undefined} waiting
 * @returns {Work}
 */
function left(waiting = 0) {
  const scheduler = createScheduler(limiterOf(1), { maxWaiting: waiting + 1 });
  const options = (/** @type {number} */ i) => ({ fair: `tenant-${i % 1000}`, within: /** @type {const} */ ('7d') });
  for (let i = 0; i <= waiting; i++) scheduler.run(entries, call, options(i)).catch(() => undefined);
  let calls = 0;
  return async () => {
    const leaving = new AbortController();
    const outcome = scheduler
      .run(entries, call, { ...options(calls++), signal: leaving.signal })
      .catch(() => undefined);
    leaving.abort();
    await outcome;
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const row = (/** @type {string} */ name, /** @type {string} */ target, /** @type {string} */ among = '') => {
    const figures = Object.keys(worksOf(name)).map((contender) => results.figure(contender, name, 'micros'));
    const [ours, other] = Object.keys(worksOf(name)).map(
      (contender, i) => `${contender}: ${withSpread(figures[i], (value) => value.toFixed(2))}`,
    );
    const [most, least] = figures.map((figure) => figure?.median);
    const isCompared = most !== undefined && least !== undefined;
    const more = isCompared ? `${(most - least).toFixed(2)} more, ${times(most / least)}` : '–';
    return [`${name}${among}`, ours ?? '', other ?? '', more, target];
  };
  return {
    title: 'Processor time, µs',
    rows: [
      ['', '', '', '', 'target'],
      row('a call that begins at once', '≤ 6 more'),
      row(LEAVES, '≤ 3.00×, as log n', ', among 100,000 that wait'),
    ],
  };
}
