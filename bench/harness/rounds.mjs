import { measureApart } from './processes.mjs';
import { Progress } from './progress.mjs';
import { Results } from './results.mjs';

/**
 * Makes all runs of a part, round by round: A B C A B C …, so that whatever changes on the machine meanwhile changes
 * for all of them.
 *
 * @param {{ name: string, file: string, part: import('./part.ts').Part }} named
 * @param {{ quick: boolean, rounds: number, contenders?: readonly string[] | undefined }} scale Without contenders: all.
 */
export async function allRounds({ name, file, part }, { quick, rounds, contenders }) {
  const results = new Results();
  const runs = part.runs({ quick }).filter(({ contender }) => contenders?.includes(contender) ?? true);
  if (runs.length === 0) throw new Error(`${name} has no contender named ${contenders?.join(', ')}.`);
  const progress = new Progress(name, runs.length * rounds);
  for (let round = 1; round <= rounds; round++) {
    for (const run of runs) {
      progress.next(`round ${round} of ${rounds}, ${run.contender}, ${run.case}`);
      // oxlint-disable-next-line no-await-in-loop
      results.add(run, await measureApart(file, run));
    }
  }
  progress.end();
  return results;
}
