import type { SimulationReport } from '../../tools/cli/src/simulate/counting/report.ts';
import { simulateProcesses } from './simulate-processes.ts';

const SCENARIO = `
title: A limit of ten processes, of which one gets five times as many requests
limits:
  Requests: { burst: 200, count: 100, period: 1s, overshoot: 0.1 }
clients:
  app:
    arrivals:
      - { burst: 200, over: 100ms }
      - { rate: 100, from: 2s, to: 12s }
  crawler:
    arrivals: { rate: 300, from: 0s, to: 10s }
within: 1s
`;

/** The limit of many processes of docs/coming-from-other-libraries.md. */
export function tenProcesses(): Promise<SimulationReport> {
  return simulateProcesses({
    scenario: SCENARIO,
    ways: ['split', 'leased'],
    processes: { processes: 10, skew: 5 },
  });
}
