import type { SluiceLimiter } from '../../tools/cli/src/simulate/algorithms/sluice.ts';
import type { Contestant, Numbers, Processes } from './contestant.ts';
import { Gossip } from './gossip.ts';
import { Leases } from './leases.ts';
import { partOf } from './partition.ts';
import { SplitBudgets } from './split-budgets.ts';

/** Ways to share a limit among processes, beside the limiter with one store. */
const WAYS = {
  split: ['split budgets', (numbers: Numbers) => new SplitBudgets(numbers)],
  gossip: ['gossip', (numbers: Numbers) => new Gossip(numbers)],
  leased: ['leases', (numbers: Numbers) => new Leases(numbers)],
} as const;

export type Way = keyof typeof WAYS;

/**
 * Returns contestants by their labels, the limiter first.
 *
 * @param name - Of the limit.
 */
export function contestantsOf(
  limiter: SluiceLimiter,
  name: string,
  processes: Processes,
  ways: readonly Way[],
): ReadonlyMap<string, Contestant> {
  const numbers = numbersOf(limiter, name, processes);
  const others = ways.map((way) => {
    const [label, create] = WAYS[way];
    return [`${label} over ${processes.processes}`, create(numbers)] as const;
  });
  return new Map<string, Contestant>([['Sluice', withOneStore(limiter, name, processes)], ...others]);
}

/** Processes that do not reach the store deny, as with `onFailure: 'closed'`. */
function withOneStore(limiter: SluiceLimiter, name: string, { partition }: Processes): Contestant {
  const exact = limiter.by([name]);
  return {
    decide: (id, atMicros, cost, process) =>
      partOf(process, atMicros, partition) === 0 ? exact.decide(id, atMicros, cost) : undefined,
  };
}

function numbersOf(limiter: SluiceLimiter, name: string, processes: Processes): Numbers {
  const { rate, treatment } = limiter.limits.get(name)!;
  const { burst, count, periodMs, emissionIntervalTicks } = rate;
  return {
    ...processes,
    burst,
    count,
    periodMicros: Math.round(periodMs * 1000),
    intervalTicks: emissionIntervalTicks,
    overshoot: treatment.overshoot,
  };
}
