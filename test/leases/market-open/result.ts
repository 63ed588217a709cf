import { readFileSync } from 'node:fs';
import type { LoadFigures, OpenFigures } from './on-redis.ts';
import type { Scenario } from './scenario.ts';
import type { Setup, SimulatedSetup } from './simulation.ts';

/** How the gateways of the same story decide, in the order of the tables. */
export const SETUPS: readonly { readonly setup: Setup; readonly name: string }[] = [
  { setup: 'closed', name: "strict, `onFailure: 'closed'`" },
  { setup: 'open', name: "strict, `onFailure: 'open'`" },
  { setup: 'leased', name: 'leased' },
];

export interface SimulatedResult {
  readonly scenario: Scenario;
  readonly setups: Readonly<Record<Setup, SimulatedSetup>>;
}

/** How many decisions the processes made with some traffic. */
export interface MostDecisions {
  readonly clients: number;
  readonly closed: LoadFigures;
  readonly leased: LoadFigures;
}

export interface MeasuredResult {
  readonly date: string;
  readonly machine: { readonly processor: string; readonly cores: number; readonly node: string };
  /** The load of the machine before: what other programs did. */
  readonly loadAverage: number;
  readonly redis: string;
  readonly gateways: number;
  readonly inFlight: number;
  readonly scenario: Scenario;
  readonly boundTokens: number;
  readonly most: readonly MostDecisions[];
  readonly open: Readonly<Record<Setup, OpenFigures>>;
}

export interface Result {
  readonly simulated: SimulatedResult;
  readonly measured: MeasuredResult;
}

export const RESULT_FILE: URL = new URL('result.json', import.meta.url);

/** What `npm run trial -- market-open --write` has written. */
export function committedResult(): Result {
  return JSON.parse(readFileSync(RESULT_FILE, 'utf8')) as Result;
}
