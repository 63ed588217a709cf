// Compares ways to handle a burst of requests, by the decisions of a real limiter with a simulated clock.
import { drawChart } from './drawing.mjs';
import { Bucket, moments } from './simulated-bucket.mjs';

/** @typedef {import('./built-core.mjs').Core} Core */

/**
 * Sends two hundred requests in 100 ms, after five seconds without any, to limits of 100 a second. Returns when the
 * requests continue, for each way to handle the burst.
 *
 * @param {Core} core
 */
export async function handledBursts(core) {
  const ways = /** @type {const} */ ([
    { name: 'token bucket', written: 'burst: 200', colour: 'no', burst: 200 },
    { name: 'leaky bucket as a queue', written: "burst: 1, maxWait: '2s'", colour: 'line', burst: 1, maxWait: '2s' },
    { name: 'leaky bucket as a meter', written: 'burst: 1', colour: 'yes', burst: 1 },
  ]);
  const results = [];
  for (const { name, written, colour, ...numbers } of ways) {
    const bucket = new Bucket(core, { ...numbers, count: 100, period: 1000 });
    const starts = [];
    for (const atMs of moments({ from: 5000, every: 0.5, count: 200 })) {
      const { allowed, delayMs } = await bucket.spend(atMs);
      if (allowed) starts.push(atMs + delayMs - 5000);
    }
    results.push({ name, written, colour, starts });
  }
  return results;
}

/** @typedef {Awaited<ReturnType<typeof handledBursts>>} HandledBursts */

/**
 * The rows of the table, without padding.
 *
 * @param {HandledBursts} bursts
 */
export function burstRows(bursts) {
  return bursts.map(({ name, written, starts }) => {
    const within = starts.filter((ms) => ms < 100).length;
    const last = Math.round(starts.at(-1) ?? 0);
    return `| ${[name, `\`${written}\``, starts.length, within, `${last} ms`, 200 - starts.length].join(' | ')} |`;
  });
}

/** @param {HandledBursts} bursts */
export function drawBursts(bursts) {
  return drawChart({
    title: 'Two hundred requests in 100 ms, at limits of 100 a second',
    description:
      'A token bucket lets all of them through within 100 ms, a leaky bucket as a queue spreads them over two seconds, and a leaky bucket as a meter lets 10 through.',
    time: { endMs: 2400, everyMs: 200, unit: { name: 'milliseconds since the first request', ms: 1 } },
    scale: { label: 'allowed', lowest: 0, highest: 200, every: 50 },
    lines: bursts.map(({ name, colour, starts }) => ({
      label: `${name}: ${starts.length}`,
      points: stairs(starts, 2400),
      colour,
    })),
    rows: [],
    bounds: [],
  });
}

/**
 * @param {readonly number[]} starts
 * @param {number} endMs
 */
function stairs(starts, endMs) {
  const points = [{ atMs: 0, value: 0 }];
  for (const [before, atMs] of starts.entries()) points.push({ atMs, value: before }, { atMs, value: before + 1 });
  points.push({ atMs: endMs, value: starts.length });
  return points;
}
