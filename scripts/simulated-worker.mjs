// Shared by the scripts that draw what a load limit does: one process in simulated time, with a real limiter.
import { randomNumbers } from './random-numbers.mjs';

/**
 * @typedef {import('./built-core.mjs').CoreWithKinds} Core
 * @typedef {{ atMs: number, kind: keyof typeof SHARES, allowed: boolean, takenMs: number }} Answer
 * @typedef {import('./drawing.mjs').Point} Point
 */

/** CPU time of a request that is allowed, and of one that is denied. */
export const WORK_MS = 10;
const DENIAL_MS = 0.1;
const CLIENTS = 1000;

const SHARES = { checkout: 1, item: 0.8, report: 0.5 };

/**
 * Serves requests for a time, and returns when each was answered, and the level over time. Like the event loop of Node,
 * the process handles all requests that have arrived, then what timers have to do, and begins again.
 *
 * @param {Core} core
 * @param {{ seconds: number, offered: (ms: number) => number, isShedding: boolean }} load `offered`: in multiples of what
 *   the process can do.
 */
export async function served(core, { seconds, offered, isShedding }) {
  const time = new core.FakeTime(0);
  const random = randomNumbers(1);
  let busyMs = 0;
  const worker = core.loadFrom(
    utilization(time, () => busyMs),
    { enabled: () => isShedding },
  );
  const limiter = core.createLimiter({
    limits: { Worker: core.load({ key: core.accountId(), load: worker }) },
    log: false,
    time,
  });
  const arrivals = arrivalTimes(random, offered, seconds * 1000);
  /** @type {Answer[]} */
  const answers = [];
  /** @type {Point[]} */
  const levels = [];
  for (let nowMs = 0, next = 0; nowMs < seconds * 1000;) {
    const turn = next;
    while (next < arrivals.length && at(arrivals, next) <= nowMs) next++;
    for (const atMs of arrivals.slice(turn, next)) {
      const kind = kindOf(random());
      time.set(nowMs);
      const id = `client-${Math.floor(random() * CLIENTS)}`;
      const { allowed } = await limiter.spend([{ limit: 'Worker', id, share: SHARES[kind] }]);
      const workMs = allowed ? WORK_MS : DENIAL_MS;
      busyMs += workMs;
      nowMs += workMs;
      answers.push({ atMs, kind, allowed, takenMs: nowMs - atMs });
    }
    if (turn === next) nowMs = Math.min(nowMs + 10, at(arrivals, next));
    time.set(nowMs);
    time.advance(0);
    levels.push({ atMs: nowMs, value: worker.level });
  }
  await limiter.close();
  return { answers, levels };
}

/**
 * @param {InstanceType<Core['FakeTime']>} time
 * @param {() => number} busyMs
 */
function utilization(time, busyMs) {
  let before = { nowMs: 0, busyMs: 0 };
  return () => {
    const now = { nowMs: time.nowMs, busyMs: busyMs() };
    const part = (now.busyMs - before.busyMs) / (now.nowMs - before.nowMs);
    before = now;
    return part;
  };
}

/**
 * Times at random, the gap between two of them from 0 to twice the mean.
 *
 * @param {() => number} random
 * @param {(ms: number) => number} offered
 * @param {number} endMs
 */
function arrivalTimes(random, offered, endMs) {
  const times = [];
  for (let ms = 0; ms < endMs; ms += (2 * random() * WORK_MS) / offered(ms)) times.push(ms);
  return times;
}

/** A fifth of the requests are checkouts, half of them items. @param {number} place @returns {keyof typeof SHARES} */
function kindOf(place) {
  if (place < 0.2) return 'checkout';
  return place < 0.7 ? 'item' : 'report';
}

/** @param {readonly number[]} times @param {number} index */
const at = (times, index) => times[index] ?? Infinity;
