import { Progress } from '../../../bench/harness/progress.mjs';
import { SETUPS, type SimulatedResult } from './result.ts';
import { leaseNumbersOf, type Scenario } from './scenario.ts';
import { simulate, type Setup, type SimulatedSetup } from './simulation.ts';

/** How often the progress of one simulation is shown. */
const STEPS = 10;

/** Simulates all set-ups. */
export function simulateAll(scenario: Scenario): SimulatedResult {
  const progress = new Progress('simulated', STEPS * SETUPS.length);
  const setups = SETUPS.map(({ setup }): [Setup, SimulatedSetup] => {
    let noted = 0;
    const simulated = simulate(scenario, setup, (share) => {
      for (; noted < share * STEPS; noted++) progress.next(setup);
    });
    return [setup, simulated];
  });
  progress.end();
  return { scenario, setups: Object.fromEntries(setups) as Record<Setup, SimulatedSetup> };
}

/** What a simulation takes for granted. */
export function assumptions({ rise, clients, exponent, seed, gateways, everyone, client, ...rest }: Scenario): string {
  const { redis, oneWayMicros, turnMicros, deadlineMs } = rest;
  const numbers = leaseNumbersOf(everyone, gateways);
  return `Simulated: ${rise.perSecond} → ${rise.toPerSecond} requests/s within ${rise.forMs} ms, seed ${seed}.
- ${clients} clients. The one with rank k asks in proportion to k^-${exponent}. A request goes to any of ${gateways} gateways.
- Two limits decide each request: ${everyone.count} in ${everyone.periodMs} ms for everyone, burst ${everyone.burst};
  ${client.count} in ${client.periodMs} ms for each client, burst ${client.burst}.
- The overshoot of everyone is ${everyone.overshoot} of the burst: at most ${numbers.boundTokens} tokens more than the limit.
- The backend can do what the limit of everyone allows, and answers the rest later.
- Redis serves one call after another: ${redis.callMicros} µs for each call, ${redis.decisionMicros} µs for each strict decision, and
  ${redis.bucketMicros} µs for each bucket of a sync.
- A message takes ${oneWayMicros} µs. Strict gateways send the requests of ${turnMicros} µs in one call, and wait ${deadlineMs} ms for it.
- Clients do not retry. Gateways and the network are never the bottleneck.`;
}
