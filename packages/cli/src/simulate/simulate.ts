import { TICKS_PER_MICRO, type Limit } from '@sluice/core/kit';
import { UsageError } from '../console/failure.ts';
import type { Algorithm, Numbers } from './algorithms/algorithm.ts';
import { MODELS } from './algorithms/models.ts';
import { bucketOf, SluiceLimiter } from './algorithms/sluice.ts';
import { figuresOf } from './counting/figures.ts';
import type { ClientReport, SimulationReport } from './counting/report.ts';
import { requestsOf, type SimulatedRequest } from './requests.ts';
import type { ClientPlan, Scenario } from './scenario/scenario.ts';

/** Decides one client's requests. */
interface Contestant {
  readonly label: string;
  readonly algorithm: Algorithm;
  /** The microsecond at which each request continues that was allowed. */
  readonly starts: number[];
}

/** Runs a scenario: each request is decided by the limiter and, by itself, by each model. */
export async function simulate(scenario: Scenario): Promise<SimulationReport> {
  const limiter = new SluiceLimiter(scenario.limits);
  const contestants = contestantsOf(scenario, limiter);
  const requests = requestsOf(scenario.clients);
  for (const { atMicros, client, id } of requests) {
    const { cost } = scenario.clients[client]!;
    for (const { algorithm, starts } of contestants[client]!) {
      const delayMicros = algorithm.decide(id, atMicros, cost);
      if (delayMicros !== undefined) starts.push(atMicros + delayMicros);
    }
  }
  await limiter.close();
  const { title, description } = scenario;
  const clients = scenario.clients.map((plan, i) => {
    const own = requests.filter(({ client }) => client === i);
    return reportOf(plan, own, contestants[i]!, withinOf(scenario, limiter, plan));
  });
  return { title, description, clients };
}

function contestantsOf(scenario: Scenario, limiter: SluiceLimiter): readonly (readonly Contestant[])[] {
  const models = new Map<string, Algorithm>();
  return scenario.clients.map(({ name, limits }) => {
    const own = { label: 'Sluice', algorithm: limiter.by(limits), starts: [] };
    const others = scenario.compare.flatMap((kind) =>
      MODELS.get(kind)!.map((one) => {
        const { label } = one;
        const limit = comparable(limiter, name, limits);
        const id = `${label} ${limit.name}`;
        const model = models.get(id) ?? one.create(numbersOf(limit, scenario.processes));
        // Clients of one limit share its model, as they share its buckets.
        models.set(id, model);
        const shown = kind === 'split' ? `${label} over ${scenario.processes}` : label;
        return { label: shown, algorithm: atBucketsOf(limit, model), starts: [] };
      }),
    );
    return [own, ...others];
  });
}

function atBucketsOf({ key }: Limit, model: Algorithm): Algorithm {
  return { decide: (id, atMicros, cost) => model.decide(bucketOf(key.format.name, id), atMicros, cost) };
}

/** Returns the limit of a client that models of other algorithms can be given. */
function comparable({ limits }: SluiceLimiter, client: string, names: readonly string[]): Limit {
  const limit = limits.get(names[0]!)!;
  if (names.length === 1 && limit.calendar === undefined && limit.borrow === undefined) return limit;
  const remedy = `Give the client one limit (\`limits: [${names[0]!}]\`), or leave \`compare\` out.`;
  throw new UsageError(`Others can be compared at one rate only, but ${client} has ${names.join(', ')}. ${remedy}`);
}

function numbersOf({ rate, bounds: [bound] }: Limit, processes: number): Numbers {
  const { burst, count, periodMs } = rate;
  const periodMicros = Math.round(periodMs * 1000);
  const window =
    bound === undefined
      ? { most: count, micros: periodMicros }
      : { most: bound.tokens, micros: bound.windowTicks / TICKS_PER_MICRO };
  return { burst, count, periodMicros, window, processes };
}

/** A quota has no period of a fixed length: a day is counted then. */
function withinOf({ withinMicros }: Scenario, { limits }: SluiceLimiter, plan: ClientPlan): number {
  return withinMicros ?? (Math.round(limits.get(plan.limits[0]!)!.rate.periodMs * 1000) || 86_400_000_000);
}

function reportOf(
  { name, copies, limits }: ClientPlan,
  requests: readonly SimulatedRequest[],
  contestants: readonly Contestant[],
  withinMicros: number,
): ClientReport {
  const arrivals = requests.map(({ atMicros }) => atMicros);
  const firstMicros = arrivals[0] ?? 0;
  const { curve } = figuresOf(arrivals, { firstMicros, withinMicros, requests: arrivals.length });
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
    arrivals: curve,
    results,
  };
}
