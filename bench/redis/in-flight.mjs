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
