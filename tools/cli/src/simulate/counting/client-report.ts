import type { SluiceLimiter } from '../algorithms/sluice.ts';
import type { SimulatedRequest } from '../requests.ts';
import type { ClientPlan, Scenario } from '../scenario/scenario.ts';
import { curveOf, figuresOf } from './figures.ts';
import type { ClientReport, SimulationReport } from './report.ts';

/** When the requests of a client continued that an algorithm allowed. */
export interface Started {
  readonly label: string;
  /** In microseconds. */
  readonly starts: number[];
}

/**
 * Returns the outcomes of a scenario.
 *
 * @param clients - By the index of the client: of each algorithm, of Sluice first.
 */
export function reportOf(
  scenario: Scenario,
  limiter: SluiceLimiter,
  requests: readonly SimulatedRequest[],
  clients: readonly (readonly Started[])[],
): SimulationReport {
  const arrivals = scenario.clients.map((): number[] => []);
  for (const { client, atMicros } of requests) arrivals[client]!.push(atMicros);
  const { title, description } = scenario;
  const reports = scenario.clients.map((plan, i) =>
    clientReport(plan, arrivals[i]!, clients[i]!, withinOf(scenario, limiter, plan)),
  );
  return { title, description, clients: reports };
}

/** A quota has no period of a fixed length: a day is counted then. */
function withinOf({ withinMicros }: Scenario, { limits }: SluiceLimiter, plan: ClientPlan): number {
  return withinMicros ?? (Math.round(limits.get(plan.limits[0]!)!.rate.periodMs * 1000) || 86_400_000_000);
}

function clientReport(
  { name, copies, limits }: ClientPlan,
  arrivals: readonly number[],
  started: readonly Started[],
  withinMicros: number,
): ClientReport {
  const firstMicros = arrivals[0] ?? 0;
  const results = started.map(({ label, starts }) => {
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
