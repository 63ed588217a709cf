// The room simulate: scenarios: arrivals, the limiter beside models of other algorithms, pictures.
import { SluiceLimiter } from './algorithms/sluice.ts';
import { Contestants, type Contestant } from './contestants.ts';
import { curveOf, figuresOf } from './counting/figures.ts';
import type { ClientReport, SimulationReport } from './counting/report.ts';
import { requestsOf } from './requests.ts';
import type { ClientPlan, Scenario } from './scenario/scenario.ts';

/** Runs a scenario: each request is decided by the limiter and, by itself, by each model. */
export async function simulate(scenario: Scenario): Promise<SimulationReport> {
  const limiter = new SluiceLimiter(scenario.limits);
  const contestants = new Contestants(scenario, limiter);
  const requests = requestsOf(scenario);
  await contestants.decide(requests);
  await limiter.close();
  const { title, description } = scenario;
  const arrivals = scenario.clients.map((): number[] => []);
  for (const { client, atMicros } of requests) arrivals[client]!.push(atMicros);
  const clients = scenario.clients.map((plan, i) => {
    return reportOf(plan, arrivals[i]!, contestants.ofClients[i]!, withinOf(scenario, limiter, plan));
  });
  return { title, description, clients };
}

/** A quota has no period of a fixed length: a day is counted then. */
function withinOf({ withinMicros }: Scenario, { limits }: SluiceLimiter, plan: ClientPlan): number {
  return withinMicros ?? (Math.round(limits.get(plan.limits[0]!)!.rate.periodMs * 1000) || 86_400_000_000);
}

function reportOf(
  { name, copies, limits }: ClientPlan,
  arrivals: readonly number[],
  contestants: readonly Contestant[],
  withinMicros: number,
): ClientReport {
  const firstMicros = arrivals[0] ?? 0;
  const results = contestants.map(({ label, starts }) => {
    const figures = figuresOf(starts, { firstMicros, withinMicros, requests: arrivals.length });
    return { algorithm: label, ...figures };
  });
  return {
    client: name,
    copies,
    limits,
    requests: arrivals.length,
    firstMs: firstMicros / 1000,
    withinMs: withinMicros / 1000,
    arrivals: curveOf(arrivals, firstMicros),
    results,
  };
}
