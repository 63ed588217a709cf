import type { Measure, Run, Table } from './part.ts';
import type { Results } from './results.mjs';

/** One of the questions of a part: its cases, and the tables that answer it. */
export interface Measured {
  runs(scale: { readonly quick: boolean }): Run[];
  /** Gets a run of these ready to be measured. */
  prepare(run: Run): Promise<Measure>;
  tables(results: Results): Table[];
}
