import { redisServer } from '../servers/redis-server.ts';
import { QUICK } from './limits.ts';
import { loadThrough } from './load-through.ts';
import type { LeaseOutcome, LeaseScenario } from './outcome.ts';

const LEAST_SHARE = 0.95;
const TRIES = 3;

/** Nothing happens. */
export function calm(overshoot: number, seconds: number): LeaseScenario {
  return { name: `nothing happens, overshoot ${overshoot}`, run: () => runCalm(overshoot, seconds) };
}

async function runCalm(overshoot: number, seconds: number): Promise<LeaseOutcome> {
  const outcomes = [await load(overshoot, seconds)];
  // A machine that is busy with something else leaves requests undecided. The bound is never tried again.
  while (share(outcomes.at(-1)!) < LEAST_SHARE && outcomes.length < TRIES) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    outcomes.push(await load(overshoot, seconds));
  }
  const last = outcomes.at(-1)!;
  const percent = `${(100 * share(last)).toFixed(1)} % of the limit`;
  return {
    ...last,
    exceeded: Math.max(...outcomes.map(({ exceeded }) => exceeded)),
    note: `${percent}; ${last.note}`,
    promises: [...last.promises, [share(last) >= LEAST_SHARE, `only ${percent} was used in ${TRIES} tries`]],
  };
}

async function load(overshoot: number, seconds: number): Promise<LeaseOutcome> {
  const { url } = await redisServer();
  return loadThrough({
    server: { url },
    limit: { ...QUICK, overshoot },
    perSecond: 2000,
    beforeMs: 500 * seconds,
    afterMs: 500 * seconds,
    recoveredWithinMs: 500 * seconds,
    fault: () => Promise.resolve({ tokens: 0 }),
  });
}

function share({ passed, allowed }: LeaseOutcome): number {
  return passed / allowed;
}
