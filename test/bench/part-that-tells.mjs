// A part of the measurements that writes down who was measured when.
import { appendFileSync } from 'node:fs';

/** @type {import('../../bench/harness/part.ts').Part} */
export const part = {
  title: 'who is measured when',
  rounds: 1,
  turns: ({ quick }) => (quick ? 1 : 3),
  runs: () => ['A', 'B'].flatMap((contender) => ['one', 'two'].map((name) => ({ contender, case: name }))),
  prepare: async ({ contender, case: name }) => {
    tell(`${contender} ${name} ready`);
    let turn = 0;
    return async () => {
      tell(`${contender} ${name}`);
      return { turn: ++turn, process: process.pid };
    };
  },
  tables: () => [],
  counts: { cases: ['one', 'two'], figures: {} },
};

/** @param {string} line */
function tell(line) {
  appendFileSync(process.env['TOLD'] ?? '', `${line}\n`);
}
