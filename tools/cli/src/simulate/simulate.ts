// The room simulate: scenarios: arrivals, the limiter beside models of other algorithms, pictures.
import { SluiceLimiter } from './algorithms/sluice.ts';
import { contestantsOf } from './contestants.ts';
import { reportOf } from './counting/client-report.ts';
import type { SimulationReport } from './counting/report.ts';
import { requestsOf } from './requests.ts';
import type { Scenario } from './scenario/scenario.ts';

/** Runs a scenario: each request is decided by the limiter and, by itself, by each model. */
export async function simulate(scenario: Scenario): Promise<SimulationReport> {
  const limiter = new SluiceLimiter(scenario.limits);
  const contestants = contestantsOf(scenario, limiter);
  const requests = requestsOf(scenario);
  for (const { atMicros, client, id } of requests) {
    const { cost } = scenario.clients[client]!;
    for (const { algorithm, starts } of contestants[client]!) {
      const delayMicros = algorithm.decide(id, atMicros, cost);
      if (delayMicros !== undefined) starts.push(atMicros + delayMicros);
    }
  }
  await limiter.close();
  return reportOf(scenario, limiter, requests, contestants);
}
