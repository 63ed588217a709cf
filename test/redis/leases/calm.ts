import { redisServer } from '../servers/redis-server.ts';
import { QUICK } from './limits.ts';
import { loadThrough } from './load-through.ts';
import type { LeaseOutcome, LeaseScenario } from './outcome.ts';

const LEAST_SHARE = 0.95;

/** Nothing happens. */
export function calm(overshoot: number, seconds: number): LeaseScenario {
  return { name: `nothing happens, overshoot ${overshoot}`, run: () => runCalm(overshoot, seconds) };
}

async function runCalm(overshoot: number, seconds: number): Promise<LeaseOutcome> {
  const { url } = await redisServer();
  const outcome = await loadThrough({
    server: { url },
    limit: { ...QUICK, overshoot },
    perSecond: 2000,
    beforeMs: 500 * seconds,
    afterMs: 500 * seconds,
    recoveredWithinMs: 1000,
    fault: () => Promise.resolve({ tokens: 0 }),
  });
  const share = outcome.passed / outcome.allowed;
  return {
    ...outcome,
    note: `${(100 * share).toFixed(1)} % of the limit; ${outcome.note}`,
    promises: [
      ...outcome.promises,
      [share >= LEAST_SHARE, `only ${(100 * share).toFixed(1)} % of what the limit allows passed`],
    ],
  };
}
