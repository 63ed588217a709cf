/**
 * Joins several measurements to the runs, the preparation and the tables of one part. Each case belongs to one of them.
 *
 * @param {readonly import('./measured.ts').Measured[]} all
 * @returns {import('./measured.ts').Measured}
 */
export function joined(all) {
  return {
    runs: (scale) => all.flatMap((each) => each.runs(scale)),
    async prepare(run) {
      const measured = all.find((each) => each.runs({ quick: false }).some((other) => other.case === run.case));
      if (measured === undefined) throw new Error(`There is no case ${run.case}.`);
      return measured.prepare(run);
    },
    tables: (results) => all.flatMap((each) => each.tables(results)),
  };
}
