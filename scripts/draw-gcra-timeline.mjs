// `node scripts/draw-gcra-timeline.mjs` draws docs/gcra-timeline.svg: what the real limiter decides on a clock that is
// moved by hand. It prints the same as the table of docs/gcra.md.
import { writeFileSync } from 'node:fs';
import { builtCore } from './built-core.mjs';
import { drawPicture, round } from './drawing.mjs';
import { isProgram } from './is-program.mjs';

const BURST = 3;
const INTERVAL_MS = 1000;
const TOLERANCE_MS = BURST * INTERVAL_MS;

const REQUESTS = [
  { atMs: 0, cost: 1 },
  { atMs: 200, cost: 1 },
  { atMs: 400, cost: 1 },
  { atMs: 600, cost: 1 },
  { atMs: 1000, cost: 1 },
  { atMs: 2500, cost: 2 },
  { atMs: 3000, cost: 2 },
  { atMs: 6500, cost: 3 },
];
const END_MS = 10_000;

/**
 * @typedef {import('./built-core.mjs').Core} Core
 * @typedef {{ atMs: number, cost: number, allowed: boolean, levelBeforeMs: number, levelAfterMs: number,
 *   remaining: number, retryAfterMs: number }} Step
 */

/**
 * What the limiter makes of each request.
 *
 * @param {Core} core
 * @returns {Promise<Step[]>}
 */
export async function timeline({ createLimiter, accountId, FakeTime }) {
  const time = new FakeTime();
  const limiter = createLimiter({
    limits: { Requests: { key: accountId(), burst: BURST, count: 1, period: INTERVAL_MS } },
    time,
  });
  const steps = [];
  for (const { atMs, cost } of REQUESTS) {
    time.set(atMs);
    const { allowed, remaining, retryAfterMs, resetAfterMs } = await limiter.spend([
      { limit: 'Requests', id: 'one', cost },
    ]);
    const levelBeforeMs = allowed ? resetAfterMs - cost * INTERVAL_MS : resetAfterMs;
    steps.push({ atMs, cost, allowed, levelBeforeMs, levelAfterMs: resetAfterMs, remaining, retryAfterMs });
  }
  return steps;
}

/**
 * The rows of the table in docs/gcra.md, without padding.
 *
 * @param {Step[]} steps
 */
export function timelineRows(steps) {
  return steps.map(({ atMs, cost, allowed, levelBeforeMs, levelAfterMs, remaining, retryAfterMs }, index) => {
    const sum = `${seconds(levelBeforeMs)} + ${seconds(cost * INTERVAL_MS)} ${allowed ? '≤' : '>'} 3`;
    const outcome = allowed ? 'allowed' : `denied, wait ${seconds(retryAfterMs)} s`;
    const tat = seconds(atMs + levelAfterMs);
    return `| ${[index + 1, `${seconds(atMs)} s`, cost, sum, outcome, remaining, `${tat} s`].join(' | ')} |`;
  });
}

const PLOT = { left: 76, right: 820, top: 84, bottom: 384 };
const HIGHEST_MS = 4000;

/** @param {number} ms */
const x = (ms) => round(PLOT.left + ((PLOT.right - PLOT.left) * ms) / END_MS);
/** @param {number} levelMs */
const y = (levelMs) => round(PLOT.bottom - ((PLOT.bottom - PLOT.top) * levelMs) / HIGHEST_MS);

/**
 * The picture.
 *
 * @param {Step[]} steps
 */
export function drawTimeline(steps) {
  const text = {
    title: 'A bucket of burst 3 whose tokens come back one a second',
    description:
      'The level falls by one second each second. A request of cost c lifts it by c seconds, unless that would lift it above three seconds: then it is denied, and passes as soon as the lifted level has fallen to three seconds.',
  };
  const parts = [...legend(), ...axes(), ...levels(steps), ...steps.flatMap(request)];
  return drawPicture(text, 440, { rules: RULES, coloured, parts });
}

const RULES = [
  'path { fill: none; stroke-width: 2.5; }',
  '.grid { stroke-width: 1; }',
  '.bound { stroke-width: 1.5; }',
  '.no { stroke-dasharray: 4 3; }',
  '.wait { stroke-width: 1.5; stroke-dasharray: 2 3; }',
];

/** @param {import('./drawing.mjs').Colours} colours */
function coloured({ ground, ink, faint, area, line, yes, no }) {
  return [
    `.ground { fill: ${ground}; }`,
    `text { fill: ${ink}; }`,
    `.grid { stroke: ${faint}; }`,
    `.bound { stroke: ${ink}; }`,
    `.area { fill: ${area}; }`,
    `.level { stroke: ${line}; }`,
    `.yes { stroke: ${yes}; }`,
    `.no, .wait { stroke: ${no}; }`,
    `text.yes { fill: ${yes}; font-weight: 600; }`,
    `text.no { fill: ${no}; font-weight: 600; }`,
  ];
}

function legend() {
  return [
    `<path class="yes" d="M${PLOT.left} 26h28"/>`,
    `<text x="${PLOT.left + 36}" y="31">allowed: lifts the level by cost × T</text>`,
    `<path class="no" d="M${PLOT.left + 300} 26h28"/>`,
    `<text x="${PLOT.left + 336}" y="31">denied: would lift it above τ; fits where the dots meet τ</text>`,
  ];
}

function axes() {
  const lines = [];
  for (let ms = 0; ms <= END_MS; ms += 1000) {
    lines.push(`<path class="grid" d="M${x(ms)} ${PLOT.top}V${PLOT.bottom}"/>`);
    lines.push(`<text class="middle" x="${x(ms)}" y="${PLOT.bottom + 22}">${ms / 1000}</text>`);
  }
  for (let ms = 0; ms <= HIGHEST_MS; ms += 1000) {
    lines.push(
      `<text class="end" x="${PLOT.left - 10}" y="${y(ms) + 5}">${ms === TOLERANCE_MS ? 'τ = ' : ''}${ms / 1000} s</text>`,
    );
  }
  lines.push(
    `<text class="middle" x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 46}">time in seconds</text>`,
    `<text x="${PLOT.right + 8}" y="${y(TOLERANCE_MS) + 5}">empty</text>`,
    `<text x="${PLOT.right + 8}" y="${y(0) + 5}">full</text>`,
    `<text x="14" y="${PLOT.top - 16}">level = TAT − now</text>`,
  );
  return lines;
}

/** @param {Step[]} steps */
function levels(steps) {
  const points = [];
  let fullMs = 0;
  for (const { atMs, levelBeforeMs, levelAfterMs } of steps) {
    if (fullMs <= atMs) points.push([fullMs, 0]);
    points.push([atMs, levelBeforeMs], [atMs, levelAfterMs]);
    fullMs = atMs + levelAfterMs;
  }
  points.push([fullMs, 0], [END_MS, 0]);
  const path = points.map(([ms = 0, levelMs = 0]) => `${x(ms)} ${y(levelMs)}`).join('L');
  return [
    `<path class="area" d="M${path}L${x(END_MS)} ${y(0)}L${x(0)} ${y(0)}Z"/>`,
    `<path class="bound" d="M${PLOT.left} ${y(0)}H${PLOT.right}"/>`,
    `<path class="bound" stroke-dasharray="7 4" d="M${PLOT.left} ${y(TOLERANCE_MS)}H${PLOT.right}"/>`,
    `<path class="level" d="M${path}"/>`,
  ];
}

/**
 * @param {Step} step
 * @param {number} index
 */
function request({ atMs, cost, allowed, levelBeforeMs, retryAfterMs }, index) {
  const topMs = levelBeforeMs + cost * INTERVAL_MS;
  const lift = `<path class="${allowed ? 'yes' : 'no'}" d="M${x(atMs)} ${y(levelBeforeMs)}V${y(topMs)}"/>`;
  const number = `<text class="middle ${allowed ? 'yes' : 'no'}" x="${x(atMs)}" y="${y(topMs) - 8}">${index + 1}</text>`;
  if (allowed) return [lift, number];
  const passesMs = atMs + retryAfterMs;
  return [lift, number, `<path class="wait" d="M${x(atMs)} ${y(topMs)}L${x(passesMs)} ${y(TOLERANCE_MS)}"/>`];
}

/** @param {number} ms */
function seconds(ms) {
  return String(ms / 1000);
}

if (isProgram(import.meta.url)) {
  const steps = await timeline(await builtCore());
  writeFileSync(new URL('../docs/gcra-timeline.svg', import.meta.url), drawTimeline(steps));
  console.log(timelineRows(steps).join('\n'));
}
