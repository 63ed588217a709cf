import { randomFrom } from './random.ts';
import type { Scenario } from './scenario/scenario.ts';

/** A request of a simulation. */
export interface SimulatedRequest {
  /** In whole microseconds from the beginning. */
  readonly atMicros: number;
  /** The index of its client among the plans. */
  readonly client: number;
  /** The id of its client, different for each copy. */
  readonly id: string;
  /** The process that it arrives at, from 0. */
  readonly process: number;
}

/** Returns the requests of all clients in the order of time. At the same moment the client that is listed first is first. */
export function requestsOf(scenario: Pick<Scenario, 'clients' | 'processes' | 'skew'>): readonly SimulatedRequest[] {
  const requests = scenario.clients.flatMap(({ name, copies, arrivals }, client) => {
    const moments = arrivals.flatMap((each) => Array.from(each.moments(), Math.round));
    return Array.from({ length: copies }, (_, copy) => {
      const id = copies === 1 ? name : `${name}-${copy + 1}`;
      return moments.map((atMicros) => ({ atMicros, client, id }));
    }).flat();
  });
  const nextProcess = loadBalancer(scenario);
  return requests
    .toSorted((a, b) => a.atMicros - b.atMicros)
    .map((request): SimulatedRequest => ({ ...request, process: nextProcess() }));
}

/** Picks a process at random for each request, the first one `skew` times as often as each other one. */
function loadBalancer({ processes, skew }: Pick<Scenario, 'processes' | 'skew'>): () => number {
  const random = randomFrom(1);
  return () => Math.max(0, Math.floor(random() * (skew + processes - 1) - (skew - 1)));
}
