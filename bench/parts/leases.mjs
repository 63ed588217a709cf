import { coldIds } from '../leases/cold.mjs';
import { decisions } from '../leases/decisions.mjs';
import { loads } from '../leases/loads.mjs';
import { syncsInRedis } from '../leases/syncs.mjs';

/** @type {readonly import('../harness/measured.ts').Measured[]} */
const ALL = [decisions, coldIds, loads, syncsInRedis];

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'leases: what a decision of leasedStore costs the process, and what its syncs cost Redis',
  rounds: 5,
  turns: ({ quick }) => (quick ? 2 : 16),
  runs: (scale) => ALL.flatMap((each) => each.runs(scale)),
  async prepare(run) {
    const measured = ALL.find((each) => each.runs({ quick: false }).some((other) => other.case === run.case));
    if (measured === undefined) throw new Error(`There is no case ${run.case}.`);
    return measured.prepare(run);
  },
  tables: (results) => ALL.flatMap((each) => each.tables(results)),
};
