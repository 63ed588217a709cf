/** What came of one scenario with slots. */
export interface SlotOutcome {
  /** How many requests got a slot. */
  readonly holds: number;
  /** How many requests the local policy decided. */
  readonly byPolicy: number;
  /** The most slots of one id in use at the same moment, and how many may be. */
  readonly most: number;
  readonly bound: number;
  /** How long after the end of the load, or the death of a process, its last slot was free; `undefined` for too long. */
  readonly freeMs: number | undefined;
  readonly freeWithinMs: number;
  readonly note: string;
  /** The promises that are particular to this scenario: whether each was kept, and what is said when not. */
  readonly promises: readonly (readonly [kept: boolean, sentence: string])[];
}

/** A fault, or a load, that concurrency limits have to stand. */
export interface SlotScenario {
  readonly name: string;
  run(): Promise<SlotOutcome>;
}

/** The promises that were broken, each as a sentence. */
export function brokenSlotPromises({ holds, most, bound, freeMs, freeWithinMs, promises }: SlotOutcome): string[] {
  const all: SlotOutcome['promises'] = [
    [holds > 0, 'no request got a slot'],
    [most <= bound, `${most} slots were in use at the same time, more than ${bound}`],
    [freeMs !== undefined && freeMs <= freeWithinMs, `after ${freeWithinMs} ms slots were still held`],
    ...promises,
  ];
  return all.flatMap(([kept, sentence]) => (kept ? [] : [sentence]));
}

/** The columns of a table of scenarios, and one row of it. */
export const SLOT_COLUMNS = [
  'scenario',
  'holds',
  'by policy',
  'most in use of',
  'free after ms, at most',
  'note',
] as const;

export function slotRow(name: string, outcome: SlotOutcome): string[] {
  const { holds, byPolicy, most, bound, freeMs, freeWithinMs, note } = outcome;
  const free = freeMs === undefined ? 'never' : freeMs.toFixed(0);
  return [name, String(holds), String(byPolicy), `${most} of ${bound}`, `${free} of ${freeWithinMs}`, note];
}
