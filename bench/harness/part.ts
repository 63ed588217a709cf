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
  /** The runs of one round, in the order in which they are made: those that are compared stand together. */
  runs(scale: Scale): Run[];
  /** Makes one run. Called in a process that makes no other. */
  measure(run: Run): Promise<Figures>;
  tables(results: Results): Table[];
}

interface Scale {
  /** Few operations: whether everything runs, not how fast. */
  readonly quick: boolean;
}

/** One contender in one case. */
export interface Run {
  readonly contender: string;
  readonly case: string;
  readonly nodeOptions?: readonly string[];
  /** The processor core that it should have, where cores can be chosen. */
  readonly core?: number;
  /** What `measure` must know besides. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
}

/** What a run measured: numbers by name, each name with its unit. */
export type Figures = Readonly<Record<string, number>>;

export interface Table {
  readonly title: string;
  /** The first names the columns. */
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}
