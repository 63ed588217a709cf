import { basename } from 'node:path';
import { ofClone } from './beside-table.mjs';
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
 *   beside?: readonly string[] }} scale Without contenders: all, and all of ours if quick. `beside` are the folders of other clones.
 */
export async function allRounds({ name, file, part }, { quick, rounds, contenders, firstCase = false, beside = [] }) {
  const results = new Results();
  const isAsked = (/** @type {Run} */ run) =>
    (!quick || part.counts.cases.includes(run.case)) &&
    (contenders?.includes(run.contender) ?? (!quick || isOurs(run)));
  const all = part.runs({ quick }).filter(isAsked);
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
      const measured = await inTurns(
        file,
        group.filter((run) => !results.notCompared.has(nameOf(run))),
        turns,
      );
      for (const { run, figures, failure } of measured) {
        if (failure === undefined) results.add(run, figures);
        else if (run.beside === undefined) throw failure;
        else results.notCompared.set(nameOf(run), reasonOf(failure));
      }
    }
  }
  progress.end();
  return results;
}

/** @param {Run} run */
function isOurs({ contender }) {
  return contender.startsWith('Sluice');
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
  if (!isOurs(run)) return [];
  return clones.map((clone) => ({
    ...run,
    contender: ofClone(contender, basename(clone)),
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
  const members = runs.map((run) => new Member(run));
  // oxlint-disable-next-line no-await-in-loop
  for (const member of members) await member.start(file);
  for (let turn = 0; turn < turns; turn++) {
    // oxlint-disable-next-line no-await-in-loop
    for (const member of members) await member.measure();
  }
  await Promise.all(members.map((member) => member.end()));
  return members;
}

/** A run among those that are measured in turns, until it fails. */
class Member {
  /** @type {RunProcess | undefined} */
  #process;
  /** @type {Figures[]} */
  figures = [];
  /** @type {unknown} */
  failure;

  /** @param {Run} run */
  constructor(run) {
    this.run = run;
  }

  /** @param {string} file */
  async start(file) {
    await this.#try(async () => (this.#process = await RunProcess.start(file, this.run)));
  }

  async measure() {
    await this.#try(async () => this.figures.push(await /** @type {RunProcess} */ (this.#process).measure()));
  }

  async end() {
    await this.#try(async () => this.#process?.end());
  }

  /** @param {() => Promise<unknown>} step */
  async #try(step) {
    if (this.failure !== undefined) return;
    try {
      await step();
    } catch (failure) {
      this.failure = failure;
    }
  }
}

/** @param {Run} run */
function nameOf(run) {
  return `${run.contender}, ${run.case}`;
}

/**
 * The message of the error that a process printed.
 *
 * @param {unknown} failure
 */
function reasonOf(failure) {
  const text = String(failure);
  return /^\w*Error(?: \[\w+\])?: (?!.*: exit code)(.*)$/m.exec(text)?.[1] ?? text;
}
