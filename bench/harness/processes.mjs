import { fork, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {import('./part.ts').Run} Run
 * @typedef {import('./part.ts').Figures} Figures
 */

const MEASURE = new URL('measure.mjs', import.meta.url);

/** Whether a process can be given a core of its own: where there are two, and the program that does it. */
export const coresCanBeChosen = availableParallelism() > 1 && spawnSync('taskset', ['-V']).error === undefined;

/**
 * Makes one run in a process of its own.
 *
 * @param {string} partFile
 * @param {Run} run
 * @returns {Promise<Figures>} rejects with what the process said when it failed
 */
export function measureApart(partFile, run) {
  const { nodeOptions = [], core } = run;
  const child = forked(MEASURE, [partFile, JSON.stringify(run)], {
    nodeOptions: ['--expose-gc', ...nodeOptions],
    core,
  });
  /** @type {Figures | undefined} */
  let figures;
  let errors = '';
  child.stderr?.on('data', (chunk) => (errors += chunk));
  child.on('message', (message) => (figures = /** @type {Figures} */ (message)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0 && figures !== undefined) return resolve(figures);
      const end = signal ?? `exit code ${code}`;
      reject(new Error(`${run.contender}, ${run.case}: ${end}\n${errors}`));
    });
  });
}

/**
 * Starts a script in a process that can be sent messages.
 *
 * @param {URL} script
 * @param {readonly string[]} args
 * @param {{ nodeOptions?: readonly string[], core?: number | undefined }} [options]
 */
export function forked(script, args, { nodeOptions = [], core } = {}) {
  /** @type {import('node:child_process').ForkOptions} */
  const options = { stdio: ['ignore', 'inherit', 'pipe', 'ipc'], env: environment() };
  const path = fileURLToPath(script);
  if (core === undefined || !coresCanBeChosen) return fork(path, args, { ...options, execArgv: [...nodeOptions] });
  const pinned = ['-c', String(core), process.execPath, ...nodeOptions];
  return fork(path, args, { ...options, execPath: 'taskset', execArgv: pinned });
}

// As users have it: no profiling or loader of the caller's, and the faster half of the libraries that have one.
function environment() {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return { ...env, NODE_ENV: 'production' };
}
