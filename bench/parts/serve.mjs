import { checks } from '../serve/checks.mjs';
import { leased } from '../serve/leased.mjs';
import { CONNECTIONS } from '../serve/server-under-load.mjs';
import { waits } from '../serve/waits.mjs';

/** @type {readonly import('../harness/measured.ts').Measured[]} */
const ALL = [checks, waits, leased];

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: `serve: the rate limit service of Envoy, ${CONNECTIONS} connections of HTTP/2`,
  rounds: 5,
  turns: ({ quick }) => (quick ? 2 : 10),
  runs: (scale) => ALL.flatMap((each) => each.runs(scale)),
  async prepare(run) {
    const measured = ALL.find((each) => each.runs({ quick: false }).some((other) => other.case === run.case));
    if (measured === undefined) throw new Error(`There is no case ${run.case}.`);
    return measured.prepare(run);
  },
  tables: (results) => ALL.flatMap((each) => each.tables(results)),
};
