// `npm run check` runs every check; `npm run check -- format lint` runs these two; `--no-tests` leaves out the check that
// is a part of the tests, for .ci/run, which runs them too.
import { declarePackages } from './build.mjs';
import { packedOnce } from './pack.mjs';
import { run } from './run.mjs';
import { checkTarballs } from './tarball-checks.mjs';

const CONSUMER = 'test/packed/consumer';

/** What each name stands for. A check passes unless it throws. */
const checks = {
  /** First, because the tests use the same tarballs. */
  packages: async () => checkTarballs(await packedOnce()),
  format: () => run('oxfmt --check'),
  /**
   * Rules and types. The packed consumer is compiled in an empty project. With two processors, two type checkers would find out
   * most types twice, in the same time.
   */
  lint: () =>
    Promise.all([
      run(`oxlint --type-aware --type-check --deny-warnings --ignore-pattern ${CONSUMER}`, { GOMAXPROCS: '1' }),
      run(`oxlint --type-aware --deny-warnings ${CONSUMER}`),
    ]),
  /** The map of the rooms is for readers, so it is printed when all is well, too. */
  architecture: async () => console.log(await run('node scripts/architecture.mjs')),
  /** What is printed of it is the time. */
  proofs: async () => console.log((await run('npm run --silent trial -- prove')).split('\n').at(-2)),
  /** Bounds that only fall. What is printed shows which of them can be lowered. */
  measures: async () => console.log(await run('npm run --silent trial -- measures')),
  /** What is stored and changed without its version: the part of the tests of formats that needs no server. */
  formats: () =>
    run(
      'vitest run --project=formats --exclude=**/roll-out/** --exclude=**/*.redis.test.ts --exclude=**/*.postgres.test.ts',
    ),
  expressions: () => run('node scripts/expressions.mjs'),
  docs: () => run('typedoc'),
  api: () => run('node scripts/api.mjs'),
  unused: () => run('knip'),
  commits: () => run('node scripts/commits.mjs'),
};

const args = process.argv.slice(2);
const withTests = !args.includes('--no-tests');
const names = namesFrom(args.filter((arg) => arg !== '--no-tests')).filter((name) => withTests || name !== 'formats');
// Two checks read them.
await declarePackages();
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
