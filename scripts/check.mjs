// `npm run check` runs every check; `npm run check -- format lint` runs these two.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { packedOnce } from './pack.mjs';
import { root } from './pnpm.mjs';

const CONSUMER = 'test/packed/consumer';

/** What each name stands for. A check passes unless it throws. */
const checks = {
  /** First, because the tests use the same tarballs. */
  packages: checkTarballs,
  format: () => run('oxfmt --check'),
  /**
   * Rules and types, each file by the nearest tsconfig.json. That of the root is for `tsc --build` and has no files, and
   * the packed consumer has none, because it is compiled in an empty project.
   */
  lint: () =>
    Promise.all([
      run(`oxlint --type-aware --type-check --deny-warnings --ignore-pattern ${CONSUMER}`),
      run(`oxlint --type-aware --deny-warnings ${CONSUMER}`),
      run('tsc --project tsconfig.root.json'),
    ]),
  /** The map of the rooms is for readers, so it is printed when all is well, too. */
  architecture: async () => console.log(await run('node scripts/architecture.mjs')),
  /** What is printed of it is the time. */
  proofs: async () => console.log((await run('npm run --silent prove')).split('\n').at(-2)),
  docs: () => run('typedoc'),
  api: () => run('node scripts/api.mjs'),
  unused: () => run('knip'),
  commits: () => run('node scripts/commits.mjs'),
};

const names = namesFrom(process.argv.slice(2));
let failed = 0;
const waiting = names.values();
// Two at a time: most of them use one processor.
await Promise.all([runAll(waiting), runAll(waiting)]);
console.log(`${names.length - failed} checks passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs checks until none is left. @param {Iterable<keyof typeof checks>} left */
async function runAll(left) {
  for (const name of left) {
    const startMs = performance.now();
    const problem = await outcome(checks[name]);
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
    console.log(`${problem === undefined ? 'passed' : 'FAILED'}  ${name.padEnd(12)} ${seconds.padStart(6)} s`);
    if (problem !== undefined) {
      failed += 1;
      console.log(problem);
    }
  }
}

async function checkTarballs() {
  for (const tarball of packedOnce()) {
    await run(`publint run ${tarball} --strict`);
    await run(`attw ${tarball}`);
  }
}

/**
 * @param {string[]} given
 * @returns {(keyof typeof checks)[]}
 */
function namesFrom(given) {
  const unknown = given.filter((name) => !Object.hasOwn(checks, name));
  if (unknown.length > 0) {
    console.error(`There is no check named ${unknown.join(', ')}. There are: ${Object.keys(checks).join(', ')}.`);
    process.exit(1);
  }
  const wanted = given.length > 0 ? given : Object.keys(checks);
  return /** @type {(keyof typeof checks)[]} */ (wanted);
}

/**
 * Runs a program, also one of node_modules/.bin, silently.
 *
 * @param {string} command words without spaces in them
 * @returns {Promise<string>} what it printed; rejects with that when it failed
 */
function run(command) {
  const path = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH;
  const child = spawn(command, {
    cwd: root,
    env: { ...process.env, PATH: path },
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`$ ${command}\n${output}`))));
  });
}

/**
 * @param {() => Promise<unknown>} check
 * @returns {Promise<string | undefined>} why it failed
 */
async function outcome(check) {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
