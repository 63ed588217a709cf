import { QUICK } from './limits.ts';
import { onOneServer } from './on-one-server.ts';
import type { LeaseOutcome, LeaseScenario } from './outcome.ts';

const LEAST_SHARE = 0.95;
const TRIES = 3;

/** Nothing happens. */
export function calm(overshoot: number, seconds: number): LeaseScenario {
  const scenario = onOneServer({
    name: `nothing happens, overshoot ${overshoot}`,
    limit: { ...QUICK, overshoot },
    perSecond: 2000,
    beforeMs: 500 * seconds,
    afterMs: 500 * seconds,
    recoveredWithinMs: 500 * seconds,
    fault: () => Promise.resolve({ tokens: 0 }),
  });
  return { name: scenario.name, run: () => runUntilUsed(scenario) };
}

async function runUntilUsed(scenario: LeaseScenario): Promise<LeaseOutcome> {
  const outcomes = [await scenario.run()];
  // A machine that is busy with something else leaves requests undecided. The bound is never tried again.
  while (share(outcomes.at(-1)!) < LEAST_SHARE && outcomes.length < TRIES) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    outcomes.push(await scenario.run());
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

function share({ passed, allowed }: LeaseOutcome): number {
  return passed / allowed;
}
