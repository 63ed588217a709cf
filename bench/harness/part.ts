import type { Results } from './results.mjs';

/**
 * One kind of measurement: a file of `parts/`. What it measures runs in processes of its own; the part says which, how,
 * and what comes of it.
 */
export interface Part {
  /** What is measured, for the reader of its tables. */
  readonly title: string;
  /** How many rounds there are unless asked otherwise. */
  readonly rounds: number;
  /** How many turns a round has. Where it is one, each contender has the machine to itself until it has had it. */
  turns(scale: Scale): number;
  /** The runs of one round, in the order in which they are made: those of one case stand together. */
  runs(scale: Scale): Run[];
  /** Gets a run ready to be measured. Called in a process that makes no other. */
  prepare(run: Run): Promise<Measure>;
  tables(results: Results): Table[];
  /** What `--quick` compares with `counts.json`. */
  readonly counts: Counts;
}

/** What does not depend on the speed of the machine. */
interface Counts {
  readonly cases: readonly string[];
  /** The figures of these cases. Of all of them less is better. */
  readonly figures: Readonly<Record<string, Bound>>;
}

interface Scale {
  /** Few operations, which are counted and not timed. */
  readonly quick: boolean;
}

/** By what share a figure may be above the committed one, or what it may be at most where it depends on chance. */
export type Bound = number | { readonly atMost: number };

/** One contender in one case. */
export interface Run {
  readonly contender: string;
  readonly case: string;
  readonly nodeOptions?: readonly string[];
  /** The processor core that it should have, where cores can be chosen. */
  readonly core?: number;
  /** The folder of another clone, whose packages it uses, and which contender of the part it is there. */
  readonly beside?: { readonly clone: string; readonly contender: string };
  /** What `prepare` must know besides. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
}

/** Measures one turn of a run. */
export type Measure = () => Promise<Figures>;

/** What was measured in one turn: numbers by name, each name with its unit. */
export type Figures = Readonly<Record<string, number>>;

export interface Table {
  readonly title: string;
  /** The first names the columns. */
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}
