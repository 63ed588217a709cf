import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {import('./part.ts').Run} Run
 * @typedef {import('./part.ts').Figures} Figures
 */

const MEASURE = new URL('measure.mjs', import.meta.url);

const BESIDE = new URL('beside.mjs', import.meta.url).href;

const CORES = [0, 1];

/**
 * Whether a process can be given a core of its own. It is tried: a process that was given one cannot tell by how many
 * it may use itself.
 */
export const coresCanBeChosen = CORES.every((core) => spawnSync('taskset', ['-c', `${core}`, 'true']).status === 0);

/** A run in a process of its own, which waits while it is not asked to measure. */
export class RunProcess {
  #child;
  #ended;

  /**
   * @param {import('node:child_process').ChildProcess} child
   * @param {string} name
   */
  constructor(child, name) {
    this.#child = child;
    this.#ended = ended(child, name);
  }

  /**
   * @param {string} partFile
   * @param {Run} run
   * @returns {Promise<RunProcess>} one that is ready to be measured
   */
  static async start(partFile, run) {
    const { nodeOptions = [], core, beside } = run;
    const options = { nodeOptions: ['--expose-gc', ...nodeOptions], core, beside: beside?.clone };
    // In the other clone it is the same contender.
    const measured = beside === undefined ? run : { ...run, contender: beside.contender };
    const started = new RunProcess(
      forked(MEASURE, [partFile, JSON.stringify(measured)], options),
      `${run.contender}, ${run.case}`,
    );
    await started.#answer();
    return started;
  }

  /** @returns {Promise<Figures>} of one turn; rejects with what the process said when it failed */
  async measure() {
    this.#child.send('measure');
    return this.#answer();
  }

  async end() {
    // After a disconnect of ours Node would not tell that it is closed.
    this.#child.send('end');
    await this.#ended;
  }

  /** @returns {Promise<any>} */
  async #answer() {
    const silent = this.#ended.then(() => Promise.reject(new Error('A run ended before it was measured.')));
    const [answer] = await Promise.race([once(this.#child, 'message'), silent]);
    return answer;
  }
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @returns {Promise<void>} rejects with what the process said when it failed
 */
function ended(child, name) {
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${name}: ${signal ?? `exit code ${code}`}\n${errors}`));
    });
  });
}

/**
 * Starts a script in a process that can be sent messages.
 *
 * @param {URL} script
 * @param {readonly string[]} args
 * @param {{ nodeOptions?: readonly string[], core?: number | undefined, beside?: string | undefined }} [options]
 *   Without `beside`: with the packages of the process that starts it.
 */
export function forked(script, args, { nodeOptions: own = [], core, beside } = {}) {
  const clone = beside ?? process.env['SLUICE_BENCH_BESIDE'];
  const nodeOptions = clone === undefined ? own : [...own, '--import', BESIDE];
  /** @type {import('node:child_process').ForkOptions} */
  const options = { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], env: environment(clone) };
  const path = fileURLToPath(script);
  if (core === undefined || !coresCanBeChosen) return fork(path, args, { ...options, execArgv: [...nodeOptions] });
  const pinned = ['-c', String(core), process.execPath, ...nodeOptions];
  return fork(path, args, { ...options, execPath: 'taskset', execArgv: pinned });
}

// As users have it: no profiling or loader of the caller's, and the faster half of the libraries that have one.
/** @param {string | undefined} clone */
function environment(clone) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return { ...env, NODE_ENV: 'production', ...(clone !== undefined && { SLUICE_BENCH_BESIDE: clone }) };
}
