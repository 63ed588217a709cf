import type { Scenario } from './scenario/scenario.ts';

/** A request of a simulation. */
export interface SimulatedRequest {
  /** In whole microseconds from the beginning. */
  readonly atMicros: number;
  /** The index of its client among the plans. */
  readonly client: number;
  /** The id of its client, different for each copy. */
  readonly id: string;
}

/** Returns the requests of all clients in the order of time. At the same moment the client that is listed first is first. */
export function requestsOf({ clients }: Pick<Scenario, 'clients'>): readonly SimulatedRequest[] {
  const requests = clients.flatMap(({ name, copies, arrivals }, client) => {
    const moments = arrivals.flatMap((each) => Array.from(each.moments(), Math.round));
    return Array.from({ length: copies }, (_, copy) => {
      const id = copies === 1 ? name : `${name}-${copy + 1}`;
      return moments.map((atMicros): SimulatedRequest => ({ atMicros, client, id }));
    }).flat();
  });
  return requests.toSorted((a, b) => a.atMicros - b.atMicros);
}
