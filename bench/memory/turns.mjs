import { FreshIds, idsOf, VisitOrder } from '../ids.mjs';
import { allocatedBytes } from '../harness/allocated.mjs';
import { Stopwatch } from '../stopwatch.mjs';

/** @typedef {import('../contenders/decider.ts').Decider<unknown>} Decider */

const HOUR_MS = 3_600_000;

/** What share of a turn comes before the part of it that is timed. */
const LEAD_IN = 0.2;

/** How long it is warmed up, after one decision for each id. */
const WARM_UP_TURNS = 5;

/** So few fresh strings are made at a time, outside of the time that is measured, that all are still in the cache. */
const BATCH = 1000;

/**
 * Gets turns of decisions in this process ready.
 *
 * @param {Decider} decider
 * @param {{ ids: number, fresh: boolean, decisions: number, atOnce: boolean, allowed: boolean, quick: boolean }} settings
 *   Of a turn, whether its decisions pass, and whether they are counted and not timed.
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
export async function turnsOf(decider, { ids, fresh, decisions, atOnce: isAtOnce, allowed, quick }) {
  const loop = isAtOnce ? atOnce : awaited;
  const all = Array.from({ length: ids }, (_, n) => idsOf['account ids'](n));
  const order = new VisitOrder(ids);
  const time = fresh ? timeFresh(loop, decider, ids) : timePrebuilt(loop, decider, all);
  await loop(decider, all);
  if (quick) {
    const visits = Array.from(order.next(decisions), (n) => /** @type {string} */ (all[n]));
    return async () => ({ allocatedBytes: await allocatedBytes(() => loop(decider, visits), decisions) });
  }
  await time(order.next(WARM_UP_TURNS * decisions));
  globalThis.gc?.();
  return async () => {
    // The processors' caches are still those of the others.
    await time(order.next(decisions * LEAD_IN));
    const { cpuMicros, elapsedMs, last } = await time(order.next(decisions));
    checkAnswer(decider, last, allowed);
    return { nanoseconds: (cpuMicros * 1000) / decisions, wallNanoseconds: (elapsedMs * 1e6) / decisions };
  };
}

/**
 * Numbers of which no id runs out, and whose buckets stay in debt throughout: all of them must be kept.
 *
 * @param {number} ids
 * @param {boolean} denied
 */
export function rateOf(ids, denied) {
  if (denied) return { burst: 1, intervalMs: HOUR_MS, windowMs: HOUR_MS };
  return { burst: ids === 1 ? 100_000_000 : 1_000_000, intervalMs: ids === 1 ? 1000 : 60_000, windowMs: HOUR_MS };
}

/**
 * Gives the last answer, or a promise of it.
 *
 * @typedef {(decider: Decider, ids: readonly string[]) => unknown} Loop
 */

/**
 * @param {Decider} decider
 * @param {readonly string[]} ids
 */
async function awaited({ decide }, ids) {
  let last;
  for (let i = 0; i < ids.length; i++) {
    try {
      // oxlint-disable-next-line no-await-in-loop
      last = await decide(/** @type {string} */ (ids[i]));
    } catch (denial) {
      if (denial instanceof Error) throw denial;
      last = undefined;
    }
  }
  return last;
}

/** @type {Loop} */
function atOnce({ decide, decideAtOnce }, ids) {
  const call = decideAtOnce ?? decide;
  let last;
  for (let i = 0; i < ids.length; i++) last = call(/** @type {string} */ (ids[i]));
  return last;
}

/** @typedef {(order: Uint32Array) => Promise<{ cpuMicros: number, elapsedMs: number, last: unknown }>} Timing */

/**
 * @param {Loop} loop
 * @param {Decider} decider
 * @param {readonly string[]} ids
 * @returns {Timing}
 */
function timePrebuilt(loop, decider, ids) {
  return async (order) => {
    const visits = Array.from(order, (n) => /** @type {string} */ (ids[n]));
    const watch = new Stopwatch();
    watch.start();
    const last = await loop(decider, visits);
    watch.stop();
    return { ...watch.times, last };
  };
}

/**
 * @param {Loop} loop
 * @param {Decider} decider
 * @param {number} count
 * @returns {Timing}
 */
function timeFresh(loop, decider, count) {
  const fresh = new FreshIds(count);
  return async (order) => {
    const watch = new Stopwatch();
    let last;
    for (let done = 0; done < order.length; done += BATCH) {
      const visits = Array.from(order.subarray(done, done + BATCH), (n) => fresh.at(n));
      watch.start();
      // oxlint-disable-next-line no-await-in-loop
      last = await loop(decider, visits);
      watch.stop();
    }
    return { ...watch.times, last };
  };
}

/**
 * @param {Decider} decider
 * @param {unknown} answer
 * @param {boolean} expected
 */
function checkAnswer({ allowed }, answer, expected) {
  const was = answer !== undefined && allowed(answer);
  if (was !== expected)
    throw new Error(`The last decision was ${was ? 'allowed' : 'denied'}: measured is something else.`);
}
