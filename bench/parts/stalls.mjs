import { contenderNamed, inMemory } from '../contenders/in-memory.mjs';
import { freshId } from '../ids.mjs';
import { tenths, withSpread } from '../harness/table.mjs';
import { longestTurn } from '../turns.mjs';

const HOUR_MS = 3_600_000;
const TARGET_MS = 10;
const DECISIONS_PER_TURN = 100;
const RETURNING_IDS = 1000;
/** Decides nothing, and takes as long as we do: what it stalls for is the machine's. */
const MACHINE = 'only time';
const DECISION_MS = 0.0025;
/** One id has more tokens than it asks for here: nobody is denied. */
const BURST = 50_000;

/**
 * What happens while turns are timed, in M ids: those that are there before, those that come, and those that fit.
 *
 * @type {Readonly<Record<string, { before: number, coming: number, expire?: boolean, bounded?: boolean }>>}
 */
const CASES = {
  'inserting 1M': { before: 0, coming: 1 },
  'sweeping 1M': { before: 1, coming: 0, expire: true },
  'evicting 1M': { before: 1, coming: 1, bounded: true },
  'flood of 10M': { before: 0, coming: 10 },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'stalls: the longest time from one turn of the event loop to the next, in ms',
  rounds: 5,
  turns: () => 1,
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { bounded = false }]) =>
      [MACHINE, ...Object.keys(inMemory)]
        .filter((contender) => !bounded || contender === MACHINE || contenderNamed(contender).bounded)
        .map((contender) => ({
          contender,
          case: name,
          nodeOptions: ['--max-old-space-size=12000'],
          settings: { million: quick ? 10_000 : 1_000_000, expiryMs: quick ? 200 : 4000 },
        })),
    ),
  prepare: async (run) => () => measure(run),
  // The store grows by parts of 128 KiB; a table that doubled would allocate more.
  counts: { cases: Object.keys(CASES), figures: { mostBytes: { atMost: 200_000 } } },
  tables: (results) => [tableOf(results)],
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Figures>}
 */
async function measure({ contender, case: name, settings = {} }) {
  const { million, expiryMs } = /** @type {{ million: number, expiryMs: number }} */ (settings);
  const { before, coming, expire = false } = /** @type {typeof CASES[string]} */ (CASES[name]);
  const lastsMs = expire ? expiryMs : HOUR_MS;
  const rate = { burst: BURST, intervalMs: lastsMs, windowMs: lastsMs };
  const { decide, decideAtOnce = decide } =
    contender === MACHINE
      ? { decide: passTime }
      : contenderNamed(contender).decider({ rate, limits: 1, maxKeys: million });
  const arrive = (/** @type {number} */ n) => decideAtOnce(freshId('account ids', n));
  const first = before * million;
  await longestTurn(arrive, { perTurn: DECISIONS_PER_TURN, isOver: (steps) => steps >= first });
  globalThis.gc?.();
  if (!expire) {
    const isOver = (/** @type {number} */ steps) => steps >= coming * million;
    return longestTurn((n) => arrive(first + n), { perTurn: DECISIONS_PER_TURN, isOver });
  }
  // Until all have expired, and as long again: who sweeps with each decision needs decisions.
  const endMs = performance.now() + 2 * expiryMs;
  const isOver = () => performance.now() >= endMs;
  return longestTurn((n) => arrive(first + (n % RETURNING_IDS)), { perTurn: DECISIONS_PER_TURN, isOver });
}

function passTime() {
  const endMs = performance.now() + DECISION_MS;
  while (performance.now() < endMs);
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const names = Object.keys(CASES);
  const rows = results.contenders.map((contender) => [
    contender,
    ...names.flatMap((name) => [
      withSpread(results.figure(contender, name, 'busyMs'), tenths),
      withSpread(results.figure(contender, name, 'gcMs'), tenths),
      withSpread(results.figure(contender, name, 'wallMs'), tenths),
    ]),
  ]);
  return {
    title: `Longest turn with ${DECISIONS_PER_TURN} decisions each; of it garbage collection; the longest by the wall clock`,
    rows: [
      ['', ...names.flatMap((name) => [name, 'gc', 'wall'])],
      ...rows,
      ['target for Sluice', ...names.flatMap(() => [`≤ ${TARGET_MS}`, '', ''])],
    ],
    notes: [
      'Time in which the process waited for a processor counts by the wall clock only. no-op is the noise of the',
      'measuring, only time that of the machine in as many turns as long as ours. Sluice and @fastify/rate-limit keep at',
      'most 1M ids, the others all: they evict nothing.',
    ],
  };
}
