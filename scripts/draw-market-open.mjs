// `node scripts/draw-market-open.mjs` draws the pictures of docs/measured/market-open.md into the folder of that name beside
// it, from the committed result of `npm run trial -- market-open --write`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { drawChart } from './drawing.mjs';
import { isProgram } from './is-program.mjs';

const RESULT = new URL('../test/leases/market-open/result.json', import.meta.url);
const INTERVAL_MS = 100;

/**
 * @typedef {import('../test/leases/market-open/result.ts').SimulatedResult} SimulatedResult
 * @typedef {import('../test/leases/market-open/tally.ts').Interval} Interval
 */

/** @param {SimulatedResult} result */
function drawBackend({ scenario, setups }) {
  const { everyone, durationMs } = scenario;
  const line = (/** @type {'closed' | 'open' | 'leased'} */ setup) =>
    pointsOf(setups[setup].intervals, ({ admitted }) => admitted / INTERVAL_MS);
  return drawChart({
    title: 'What reaches the backend at the market open',
    description:
      'Requests rise from 18,000 to 285,000 a second within 200 ms. If strict limits fail open, almost all of them reach the backend. If they fail closed, it gets far less than it can do. With leases it gets what it can do, after a burst.',
    time: { endMs: durationMs, everyMs: 500, unit: { name: 'time in seconds', ms: 1000 } },
    scale: { label: 'thousand/s', lowest: 0, highest: 300, every: 50 },
    lines: [
      { label: 'strict, failing open', points: line('open'), colour: 'no' },
      { label: 'strict, failing closed', points: line('closed'), colour: 'line' },
      { label: 'with leases', points: line('leased'), colour: 'yes' },
    ],
    rows: [],
    bounds: [{ label: 'what it can do', value: everyone.count / everyone.periodMs }],
  });
}

/** @param {SimulatedResult} result */
function drawRedis({ scenario, setups }) {
  const line = (/** @type {'closed' | 'leased'} */ setup) =>
    pointsOf(setups[setup].intervals, ({ redisP99Ms }) => redisP99Ms);
  return drawChart({
    title: 'How long Redis takes at the market open',
    description:
      'Without leases, the slowest hundredth of the calls takes 50 ms from the rise of the load on, which is the deadline. With leases it takes less than 10 ms.',
    time: { endMs: scenario.durationMs, everyMs: 500, unit: { name: 'time in seconds', ms: 1000 } },
    scale: { label: 'p99 in ms', lowest: 0, highest: 60, every: 10 },
    lines: [
      { label: 'strict', points: line('closed'), colour: 'no' },
      { label: 'with leases', points: line('leased'), colour: 'yes' },
    ],
    rows: [],
    bounds: [{ label: 'the deadline', value: scenario.deadlineMs }],
  });
}

/**
 * @param {readonly Interval[]} intervals
 * @param {(interval: Interval) => number} value
 */
function pointsOf(intervals, value) {
  return intervals.map((interval) => ({ atMs: interval.fromMs + INTERVAL_MS / 2, value: value(interval) }));
}

/** All pictures by the names of their files. */
export function pictures() {
  /** @type {SimulatedResult} */
  const simulated = JSON.parse(readFileSync(RESULT, 'utf8')).simulated;
  return { 'backend.svg': drawBackend(simulated), 'redis.svg': drawRedis(simulated) };
}

if (isProgram(import.meta.url)) {
  const folder = new URL('../docs/measured/market-open/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const [name, picture] of Object.entries(pictures())) writeFileSync(new URL(name, folder), picture);
}
