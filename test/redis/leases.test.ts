// The short ones of the scenarios with leases that `npm run trial -- faults` runs.
import { expect, it } from 'vitest';
import { mostBeyond } from './leases/most-beyond.ts';
import { PROCESSES } from './leases/load-through.ts';
import { brokenLeasePromises } from './leases/outcome.ts';
import { SHORT_LEASE_SCENARIOS } from './leases/scenarios.ts';

it('all windows are looked at: the most beyond the rate is that of the worst window', () => {
  for (let run = 0; run < 200; run++) {
    const passed = Array.from({ length: run % 30 }, () => {
      const fromMs = Math.floor(100 * Math.random());
      return { fromMs, toMs: fromMs + Math.floor(10 * Math.random()) };
    });
    const perMs = Math.random();
    const beyond = passed.flatMap(({ fromMs }) =>
      passed.map(({ toMs }) => {
        const within = passed.filter((each) => each.fromMs >= fromMs && each.toMs <= toMs).length;
        return within - perMs * Math.max(0, toMs - fromMs);
      }),
    );
    expect(mostBeyond(passed, perMs)).toBeCloseTo(Math.max(0, ...beyond));
  }
});

it.each(SHORT_LEASE_SCENARIOS)(
  `$name: ${PROCESSES} processes keep the bound, and recover by themselves`,
  async (scenario) => {
    const outcome = await scenario.run();
    expect({ outcome, broken: brokenLeasePromises(outcome) }).toMatchObject({ broken: [] });
  },
);
