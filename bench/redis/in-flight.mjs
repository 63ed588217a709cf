import { wireBytes } from '../harness/wire.mjs';
import { idsOf } from '../ids.mjs';

/**
 * Decides for each id, so many at a time.
 *
 * @param {import('../contenders/over-redis.mjs').Decide} decide
 * @param {Uint32Array} visits Numbers of account ids.
 * @param {number} inFlight
 */
export async function decideEach(decide, visits, inFlight) {
  let next = 0;
  const one = async () => {
    // oxlint-disable-next-line no-await-in-loop
    while (next < visits.length) await decide(idsOf['account ids'](/** @type {number} */ (visits[next++])));
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  decide.verify?.();
}

/** What share of a turn comes before the part of it that is measured. */
const LEAD_IN = 0.2;

/**
 * One turn of decisions over a connection.
 *
 * @param {import('../contenders/over-redis.mjs').Decide} decide
 * @param {import('../ids.mjs').VisitOrder} order
 * @param {{ decisions: number, inFlight: number }} turn
 */
export async function measuredTurn(decide, order, { decisions, inFlight }) {
  // The processors' caches are still those of the others.
  await decideEach(decide, order.next(decisions * LEAD_IN), inFlight);
  const visits = order.next(decisions);
  const before = sample();
  await decideEach(decide, visits, inFlight);
  const after = sample();
  const elapsedMs = after.atMs - before.atMs;
  return {
    decisionsPerSecond: (decisions * 1000) / elapsedMs,
    decisionMicros: (elapsedMs * 1000 * inFlight) / decisions,
    clientCpuMicros: (after.cpuMicros - before.cpuMicros) / decisions,
    wireBytes: (after.bytes - before.bytes) / decisions,
  };
}

function sample() {
  const { user, system } = process.cpuUsage();
  return { atMs: performance.now(), cpuMicros: user + system, bytes: wireBytes() };
}
