import { basename } from 'node:path';
import { RunProcess } from './processes.mjs';
import { Progress } from './progress.mjs';
import { Results } from './results.mjs';

/**
 * @typedef {import('./part.ts').Run} Run
 * @typedef {import('./part.ts').Figures} Figures
 */

/**
 * Makes all runs of a part, round by round, each round in new processes: what V8 makes of a program is luck too.
 *
 * @param {{ name: string, file: string, part: import('./part.ts').Part }} named
 * @param {{ quick: boolean, rounds: number, contenders?: readonly string[] | undefined, firstCase?: boolean,
 *   beside?: readonly string[] }} scale Without contenders: all. `beside` are the folders of other clones.
 */
export async function allRounds({ name, file, part }, { quick, rounds, contenders, firstCase = false, beside = [] }) {
  const results = new Results();
  const all = part.runs({ quick }).filter(({ contender }) => contenders?.includes(contender) ?? true);
  const own = firstCase ? all.filter((run) => run.case === all[0]?.case) : all;
  const runs = own.flatMap((run) => [run, ...besideOf(run, beside)]);
  if (runs.length === 0) throw new Error(`${name} has no contender named ${contenders?.join(', ')}.`);
  const turns = part.turns({ quick });
  const groups = turns === 1 ? runs.map((run) => [run]) : byCase(runs);
  const progress = new Progress(name, groups.length * rounds);
  for (let round = 1; round <= rounds; round++) {
    for (const group of groups) {
      progress.next(`round ${round} of ${rounds}, ${group[0]?.case}, ${group.map((run) => run.contender).join(', ')}`);
      // oxlint-disable-next-line no-await-in-loop
      const measured = await inTurns(file, group, turns);
      for (const { run, figures } of measured) results.add(run, figures);
    }
  }
  progress.end();
  return results;
}

/**
 * The same run with the packages of other clones, if it is one of Sluice.
 *
 * @param {Run} run
 * @param {readonly string[]} clones
 * @returns {Run[]}
 */
function besideOf(run, clones) {
  const { contender } = run;
  if (!contender.startsWith('Sluice')) return [];
  return clones.map((clone) => ({
    ...run,
    contender: `${contender} of ${basename(clone)}`,
    beside: { clone, contender },
  }));
}

/**
 * @param {readonly Run[]} runs
 * @returns {Run[][]}
 */
function byCase(runs) {
  const names = new Set(runs.map((run) => run.case));
  return Array.from(names, (name) => runs.filter((run) => run.case === name));
}

/**
 * Measures runs in turns, only one of them at a time: A B C, A B C … When the machine becomes slower or faster it does so
 * for neighbours alike, and each comes always after the same other one, whose data the caches then hold.
 *
 * @param {string} file
 * @param {readonly Run[]} runs
 * @param {number} turns
 */
async function inTurns(file, runs, turns) {
  /** @type {{ run: Run, process: RunProcess, figures: Figures[] }[]} */
  const members = [];
  try {
    for (const run of runs) {
      // oxlint-disable-next-line no-await-in-loop
      members.push({ run, process: await RunProcess.start(file, run), figures: [] });
    }
    for (let turn = 0; turn < turns; turn++) {
      // oxlint-disable-next-line no-await-in-loop
      for (const { process, figures } of members) figures.push(await process.measure());
    }
  } finally {
    await Promise.all(members.map(({ process }) => process.end()));
  }
  return members;
}
