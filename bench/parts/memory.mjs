import { contenderNamed, inMemory, kinds, quiet, YARDSTICK } from '../contenders/in-memory.mjs';
import { UNCOMPILED } from '../harness/allocated.mjs';
import { rateOf, turnsOf } from '../memory/turns.mjs';
import { times, whole, withSpread } from '../harness/table.mjs';

/**
 * @typedef {import('../harness/part.ts').Run} Run
 * @typedef {{ ids: number, fresh?: boolean, limits?: number, denied?: boolean, kinds?: boolean,
 *   quiet?: boolean, target?: number }} Case
 */

/**
 * The cases, with the highest ratio to the yardstick that we want.
 *
 * @type {Readonly<Record<string, Case>>}
 */
const CASES = {
  'hot id': { ids: 1, kinds: true, target: 2.5 },
  'ten ids': { ids: 10, quiet: true },
  '100k ids': { ids: 100_000, kinds: true, target: 1 },
  '100k ids, fresh strings': { ids: 100_000, fresh: true, target: 1 },
  '1M ids': { ids: 1_000_000, target: 0.8 },
  denied: { ids: 1, denied: true, kinds: true, target: 2.5 },
  'three limits, 100k ids': { ids: 100_000, limits: 3 },
};

const WAYS = ['awaited', 'at once'];

/** The highest ratio of another kind of limit, or of more of them, to a rate that we want. */
const KIND_TARGET = 1.2;
/** @type {Readonly<Record<string, number>>} */
const OTHER_TARGETS = {
  'Sluice, quota': 1.45,
  'Sluice, borrowing': 3.1,
  'Sluice, two limits': 2,
  'Sluice, eight limits': 5,
  'Sluice, an override for each id': 1.6,
};

/** The highest ratio of a limit whose buckets are full again at each request to one whose buckets are not. */
const QUIET_TARGET = 1.3;

/** How many decisions of a turn are timed, or counted. */
const DECISIONS = { full: 100_000, quick: 5000 };

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'memory: nanoseconds of processor time per decision in this process',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 8),
  runs: ({ quick }) => WAYS.flatMap((way) => Object.keys(CASES).flatMap((name) => runsOf(name, way, quick))),
  prepare,
  counts: {
    cases: ['hot id, at once', 'denied, at once', 'three limits, 100k ids, at once', 'ten ids, awaited'],
    figures: { allocatedBytes: 0.1 },
  },
  tables: (results) => [...WAYS.map((way) => tableOf(results, way)), kindsTable(results), quietTable(results)],
};

/**
 * @param {string} name
 * @param {string} way
 * @param {boolean} quick
 * @returns {Run[]}
 */
function runsOf(name, way, quick) {
  const decisions = quick ? DECISIONS.quick : DECISIONS.full;
  const others = { ...(CASES[name]?.kinds === true && kinds), ...(CASES[name]?.quiet === true && quiet) };
  return Object.entries({ ...inMemory, ...others })
    .filter(([, { answersAtOnce }]) => answersAtOnce || way === 'awaited')
    .map(([contender]) => ({
      contender,
      case: `${name}, ${way}`,
      nodeOptions: quick ? UNCOMPILED : [],
      settings: { name, way, decisions, fewer: quick ? 100 : 1, quick },
    }));
}

/**
 * @param {Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, settings = {} }) {
  const { name, way, decisions, fewer, quick } =
    /** @type {{ name: string, way: string, decisions: number, fewer: number, quick: boolean }} */ (settings);
  const { ids, fresh = false, limits = 1, denied = false } = /** @type {Case} */ (CASES[name]);
  const count = Math.ceil(ids / fewer);
  const decider = contenderNamed(contender).decider({ rate: rateOf(count, denied), limits, maxKeys: count });
  const allowed = contender === 'no-op' || !denied;
  return turnsOf(decider, { ids: count, fresh, decisions, atOnce: way === 'at once', allowed, quick });
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} way
 */
function tableOf(results, way) {
  const names = Object.keys(CASES);
  const rows = results.contenders
    .filter(
      (contender) => contender in inMemory && results.figure(contender, `hot id, ${way}`, 'nanoseconds') !== undefined,
    )
    .map((contender) => [contender, ...names.map((name) => cell(results, contender, `${name}, ${way}`))]);
  const targets = Object.values(CASES).map(({ target }) => (target === undefined ? '' : `≤ ${times(target)}`));
  return {
    title: `Decisions ${way}: ns, and × ${YARDSTICK} (lowest–highest of the rounds)`,
    rows: [['', ...names], ...rows, ['target for Sluice', ...targets]],
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function kindsTable(results) {
  const names = Object.keys(CASES).filter((name) => CASES[name]?.kinds);
  const rows = results.contenders
    .filter((contender) => contender in kinds)
    .map((contender) => [
      contender,
      ...names.map((name) => cell(results, contender, `${name}, at once`, 'Sluice')),
      `≤ ${times(OTHER_TARGETS[contender] ?? KIND_TARGET)}`,
    ]);
  return {
    title: 'Kinds of limits, decisions at once: ns, and × a rate (lowest–highest of the rounds)',
    rows: [['', ...names, 'target'], ...rows],
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function quietTable(results) {
  const names = Object.keys(CASES).filter((name) => CASES[name]?.quiet);
  const rows = results.contenders
    .filter((contender) => contender in quiet)
    .map((contender) => [contender, ...names.map((name) => cell(results, contender, `${name}, at once`, 'Sluice'))]);
  return {
    title: 'Each bucket is full again at its next request, decisions at once: ns, and × buckets in debt',
    rows: [['', ...names], ...rows, ['target', ...names.map(() => `≤ ${times(QUIET_TARGET)}`)]],
  };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} contender
 * @param {string} caseName
 */
function cell(results, contender, caseName, yardstick = YARDSTICK) {
  const figure = results.figure(contender, caseName, 'nanoseconds');
  const ratio = results.ratio(contender, yardstick, caseName, 'nanoseconds');
  return figure === undefined ? '–' : `${whole(figure.median)}  ${withSpread(ratio, times)}`;
}
