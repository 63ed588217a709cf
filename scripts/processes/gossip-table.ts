import { simulateProcesses } from './simulate-processes.ts';
import type { Processes } from './contestant.ts';

/** A bot, and a crawler that has enough requests for a limit in each of two or eight gateways. */
const SCENARIO = `
limits:
  Requests: { burst: 200, count: 100, period: 1s, overshoot: 0.1 }
clients:
  bot:
    arrivals: { burst: 2000, over: 100ms }
  crawler:
    arrivals: { rate: 1500, from: 0s, to: 4s }
within: 1s
`;
const CONTESTANTS = ['Sluice', 'gossip', 'leases'];

interface Load {
  readonly gateways: number;
  readonly load: string;
  readonly given: Partial<Processes>;
}

/** The rows of the table. */
export const LOADS: readonly Load[] = [
  { gateways: 2, load: 'even', given: {} },
  { gateways: 8, load: 'even', given: {} },
  { gateways: 8, load: 'skewed', given: { skew: 9 } },
  { gateways: 8, load: 'in 2 parts', given: { partition: partedBy(2) } },
  { gateways: 8, load: 'in 8 parts', given: { partition: partedBy(8) } },
];

/** Returns the head of the table of docs/decisions/0026-a-store-not-gossip.md. */
export function headOfTable(): readonly (readonly string[])[] {
  const titles = ['bot', 'crawler'].flatMap((client) => CONTESTANTS.map((name) => `${client}: ${name}`));
  return [
    ['gateways', 'load', ...titles],
    ['---', '---', ...titles.map(() => '---')],
  ];
}

/** Returns how many requests are let through at a load. */
export async function rowOf({ gateways, load, given }: Load): Promise<readonly string[]> {
  const processes = { ...given, processes: gateways };
  const { clients } = await simulateProcesses({ scenario: SCENARIO, ways: ['gossip', 'leased'], processes });
  const allowed = clients.flatMap(({ results }) => results.map((each) => each.allowed.toLocaleString('en')));
  return [String(gateways), load, ...allowed];
}

/** A partition for the whole time. */
function partedBy(parts: number): Processes['partition'] {
  return { parts, fromMicros: 0, toMicros: 4_000_000 };
}
