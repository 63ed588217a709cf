import { SluiceLimiter } from '../../tools/cli/src/simulate/algorithms/sluice.ts';
import { reportOf, type Started } from '../../tools/cli/src/simulate/counting/client-report.ts';
import type { SimulationReport } from '../../tools/cli/src/simulate/counting/report.ts';
import { randomFrom } from '../../tools/cli/src/simulate/random.ts';
import { requestsOf } from '../../tools/cli/src/simulate/requests.ts';
import { readScenario } from '../../tools/cli/src/simulate/scenario/read-scenario.ts';
import type { Contestant, Processes } from './contestant.ts';
import { contestantsOf, type Way } from './contestants.ts';

/** Longer than a request waits for any decision. */
const LAST_MICROS = 1_000_000;

/** What is simulated: a scenario of `sluice simulate` with one limit, whose requests arrive at several processes. */
export interface Simulation {
  readonly scenario: string;
  readonly ways: readonly Way[];
  /** Default: 4 processes with as many requests each, which know of each other after 100 ms. */
  readonly processes?: Partial<Processes>;
}

/** Decides each request by each contestant. */
export async function simulateProcesses({ scenario: text, ways, processes }: Simulation): Promise<SimulationReport> {
  const scenario = await readScenario(text, 'processes');
  const limiter = new SluiceLimiter(scenario.limits);
  const [name = ''] = limiter.limits.keys();
  const given = { processes: 4, skew: 1, delayMicros: 100_000, partition: undefined, ...processes };
  const contestants = contestantsOf(limiter, name, given, ways);
  const clients = scenario.clients.map(() => [...contestants.keys()].map((label): Started => ({ label, starts: [] })));
  const nextProcess = loadBalancer(given);
  let nowMicros = 0;
  const requests = requestsOf(scenario);
  for (const { atMicros, client, id } of requests) {
    // oxlint-disable-next-line no-await-in-loop -- one moment after the other
    if (atMicros > nowMicros) await advance(contestants, atMicros);
    nowMicros = atMicros;
    const process = nextProcess();
    const { cost } = scenario.clients[client]!;
    for (const [i, contestant] of [...contestants.values()].entries())
      note(clients[client]![i]!, atMicros, contestant.decide(id, atMicros, cost, process));
  }
  await advance(contestants, nowMicros + LAST_MICROS);
  await limiter.close();
  return reportOf(scenario, limiter, requests, clients);
}

function note({ starts }: Started, atMicros: number, delay: ReturnType<Contestant['decide']>): void {
  const started = (micros: number | undefined): void => {
    if (micros !== undefined) starts.push(atMicros + micros);
  };
  if (delay instanceof Promise) void delay.then(started);
  else started(delay);
}

async function advance(contestants: ReadonlyMap<string, Contestant>, atMicros: number): Promise<void> {
  for (const contestant of contestants.values()) await contestant.advanceTo?.(atMicros); // oxlint-disable-line no-await-in-loop
}

/** Picks a process at random for each request, the first one `skew` times as often as each other one. */
function loadBalancer({ processes, skew }: Processes): () => number {
  const random = randomFrom(1);
  return () => Math.max(0, Math.floor(random() * (skew + processes - 1) - (skew - 1)));
}
