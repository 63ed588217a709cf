// `node scripts/draw-load.mjs` draws the pictures of docs/load.md into docs/load, from the
// decisions of a real limiter in a simulated process. It also prints the figures of the page.
import { builtCore } from './built-core.mjs';
import { drawChart, writePictures } from './drawing.mjs';
import { isProgram } from './is-program.mjs';
import { served, WORK_MS } from './simulated-worker.mjs';

/**
 * @typedef {import('./built-core.mjs').CoreWithKinds} Core
 * @typedef {import('./simulated-worker.mjs').Answer} Answer
 * @typedef {import('./drawing.mjs').Point} Point
 */

const DEADLINE_MS = 500;
const OFFERED = [0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 2.5, 3];
const SETTLED_MS = 20_000;
const SECONDS = 60;

/** Work done in time, in percent of what the process can do. @param {readonly Answer[]} answers */
function goodput(answers) {
  const inTime = answers.filter(({ allowed, takenMs }) => allowed && takenMs <= DEADLINE_MS);
  return (100 * inTime.length * WORK_MS) / (SECONDS * 1000 - SETTLED_MS);
}

/**
 * What a process does in time at each offered load, after it has settled, and how many checkouts it denied.
 *
 * @param {Core} core
 */
export async function goodputs(core) {
  const rows = [];
  for (const times of OFFERED) {
    const load = { seconds: SECONDS, offered: () => times };
    const [shedding, other] = [
      await served(core, { ...load, isShedding: true }),
      await served(core, { ...load, isShedding: false }),
    ].map(({ answers }) => answers);
    const settled = (/** @type {Answer[]} */ all = []) => all.filter(({ atMs }) => atMs >= SETTLED_MS);
    const checkouts = (/** @type {Answer[]} */ all = []) => all.filter(({ kind }) => kind === 'checkout');
    rows.push({
      percent: Math.round(100 * times),
      shedding: goodput(settled(shedding)),
      checkouts: goodput(checkouts(settled(shedding))),
      other: goodput(settled(other)),
      checkoutsDenied: checkouts(shedding).filter(({ allowed }) => !allowed).length,
      checkoutsLate: checkouts(settled(shedding)).filter(({ takenMs }) => takenMs > DEADLINE_MS).length,
    });
  }
  return rows;
}

/** @typedef {Awaited<ReturnType<typeof goodputs>>} Goodputs */

/** @param {Goodputs} rows */
function drawGoodput(rows) {
  const line = (/** @type {'shedding' | 'checkouts' | 'other'} */ of) => [
    { atMs: 0, value: 0 },
    ...rows.map((row) => ({ atMs: row.percent, value: row[of] })),
  ];
  return drawChart({
    title: 'Answers in time, with and without a load limit',
    description:
      'With a load limit, a process that is offered three times what it can do still does about two thirds of it in time, and all checkouts. Without one, it does nothing in time.',
    time: { endMs: 300, everyMs: 25, unit: { name: 'offered load in % of the capacity', ms: 1 } },
    scale: { label: 'in time, %', lowest: 0, highest: 100, every: 20 },
    lines: [
      { label: 'with a load limit', points: line('shedding'), colour: 'line' },
      { label: 'checkouts among them', points: line('checkouts'), colour: 'yes' },
      { label: 'without', points: line('other'), colour: 'no' },
    ],
    rows: [],
    bounds: [],
  });
}

const HALF_MS = 60_000;
const WAVES = 2;

/** @param {number} ms */
const squareWave = (ms) => (Math.floor(ms / HALF_MS) % 2 === 0 ? 3 : 0.3);

/** The level while the load is high and low in turn, once a second. @param {Core} core */
export async function waveLevels(core) {
  const { levels } = await served(core, {
    seconds: (2 * WAVES * HALF_MS) / 1000,
    offered: squareWave,
    isShedding: true,
  });
  /** @type {Point[]} */
  const points = [];
  for (const { atMs, value } of levels) {
    if (atMs >= points.length * 1000) points.push({ atMs: points.length * 1000, value });
  }
  return points;
}

/** @param {readonly Point[]} levels */
function drawWave(levels) {
  const edges = Array.from({ length: 2 * WAVES }, (_, half) => {
    const value = squareWave(half * HALF_MS) / 3;
    return [
      { atMs: half * HALF_MS, value },
      { atMs: (half + 1) * HALF_MS, value },
    ];
  });
  return drawChart({
    title: 'The level under a square wave of load',
    description:
      'While the load is three times the capacity, the level rises within seconds to the point above which checkouts are shed, and stays. While the load is low, the level falls.',
    time: { endMs: 2 * WAVES * HALF_MS, everyMs: HALF_MS / 4, unit: { name: 'time in seconds', ms: 1000 } },
    scale: { label: 'level', lowest: 0, highest: 1, every: 0.25 },
    lines: [
      { label: 'level', points: levels, colour: 'line' },
      { label: 'load: 3 times the capacity, then 0.3 times', points: edges.flat(), colour: 'no' },
    ],
    rows: [],
    bounds: [
      { label: 'reports are shed up to here', value: 1 / 3 },
      { label: 'items are shed up to here, then checkouts', value: 2 / 3 },
    ],
  });
}

/**
 * All pictures by the names of their files.
 *
 * @param {Core} core
 * @returns {Promise<Record<string, string>>}
 */
export async function pictures(core) {
  return { 'goodput.svg': drawGoodput(await goodputs(core)), 'level.svg': drawWave(await waveLevels(core)) };
}

if (isProgram(import.meta.url)) {
  const core = await builtCore();
  writePictures(new URL('../docs/load/', import.meta.url), await pictures(core));
  console.table(await goodputs(core));
}
