/** What came of one scenario with leases. */
export interface LeaseOutcome {
  /** How many requests passed, and how many the limit alone allows in that time. */
  readonly passed: number;
  readonly allowed: number;
  /** The most by which the requests of any window exceeded the limit, and by how much they may, in tokens. */
  readonly exceeded: number;
  readonly bound: number;
  /** When the fault was over, how long it took until the limit was used again, and by all processes; `undefined`: never. */
  readonly recoveredMs: number | undefined;
  readonly recoveredWithinMs: number;
  readonly note: string;
  /** The promises that are particular to this scenario: whether each was kept, and the sentence if not. */
  readonly promises: readonly (readonly [kept: boolean, sentence: string])[];
}

/** A fault, or a load, that leased limits have to stand. */
export interface LeaseScenario {
  readonly name: string;
  run(): Promise<LeaseOutcome>;
}

/** The promises that were broken, each as a sentence. */
export function brokenLeasePromises(outcome: LeaseOutcome): string[] {
  const { passed, exceeded, bound, recoveredMs = Infinity, recoveredWithinMs, promises } = outcome;
  const all: LeaseOutcome['promises'] = [
    [passed > 0, 'no request passed'],
    [exceeded <= bound, `the limit was exceeded by ${exceeded.toFixed(1)} requests, more than ${bound.toFixed(1)}`],
    [recoveredMs <= recoveredWithinMs, `the limit was used again after ${recoveredMs} ms, not ${recoveredWithinMs}`],
    ...promises,
  ];
  return all.flatMap(([kept, sentence]) => (kept ? [] : [sentence]));
}

/** The columns of a table of scenarios, and one row of it. */
export const LEASE_COLUMNS = [
  'scenario',
  'passed, allowed by the limit alone',
  'exceeded by, at most',
  'recovered after ms, at most',
  'note',
] as const;

export function leaseRow(name: string, outcome: LeaseOutcome): string[] {
  const { passed, allowed, exceeded, bound, recoveredMs, recoveredWithinMs, note } = outcome;
  const recovered = recoveredMs === undefined ? 'never' : recoveredMs.toFixed(0);
  return [
    name,
    `${passed}, ${allowed.toFixed(0)}`,
    `${exceeded.toFixed(1)}, ${bound.toFixed(0)}`,
    `${recovered}, ${recoveredWithinMs}`,
    note,
  ];
}
