// `npm run trial -- peer-tests hono-rate-limiter ../hono-rate-limiter`: runs the tests of another library over our store. It takes
// a clone of the library, which it copies, or the package where that has the tests in it; nothing of it is in this repository
// but the names of the tests that fail, each with the reason, in test/peer-tests. That list is exact: a test that passes
// unexpectedly fails the run, too.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { packedOnce } from './pack.mjs';
import { root } from './pnpm.mjs';

/** The time of the store is the date of the process, which some tests fake. */
const TIME = `{
  nowMicros: () => Date.now() * 1000,
  wallNow: () => Date.now(),
  alarm(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { ref: () => timer.ref(), unref: () => timer.unref(), cancel: () => clearTimeout(timer) };
  },
  endOfTurn(run) {
    const turn = setImmediate(run);
    return () => clearImmediate(turn);
  },
}`;

/** In place of the memory store of a library that has the interface of express-rate-limit. */
const MEMORY_STORE = `// @ts-nocheck
import { rateLimitStore } from '@sluice/drop-in/express-rate-limit';
export const MemoryStore: any = function MemoryStore() {
  const store = rateLimitStore({ time: ${TIME}, log: false });
  const init = store.init.bind(store);
  // Some tests make a store without a limiter, and so without a limit; others pass a function that returns 2.
  store.init = ({ limit = 5, ...options }) => init({ ...options, limit: typeof limit === 'function' ? 2 : limit });
  return store;
};
export type MemoryStore = any;
`;

const LOCAL_STORE = `'use strict';
const { rateLimitStore } = require('@sluice/drop-in/fastify-rate-limit');
const time = ${TIME};
module.exports = function LocalStore(params) {
  return new (rateLimitStore({ time, log: false }))(params);
};
`;

/** Around the helper of better-auth that makes an instance for a test. */
const TEST_INSTANCE = `// @ts-nocheck
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { getTestInstance as instance } from 'better-auth/test';
const time = ${TIME};
export const getTestInstance = ({ rateLimit, ...options } = {}, ...rest) =>
  instance({ ...options, rateLimit: { ...rateLimit, customStorage: rateLimitStorage({ time, log: false }) } }, ...rest);
`;

/**
 * How the tests of a library are run. One of several packages is installed as it is published, beside the `only` files that
 * are taken of its folder. `hasTests` if the package that is published has the tests in it.
 *
 * @typedef {{ store: string, text: string, hasTests?: boolean, files: Record<string, string>, without: readonly string[],
 *   edit?: readonly [file: string, from: RegExp, to: string],
 *   package?: { folder: string, only: readonly string[], beside: readonly string[] },
 *   command: readonly string[], report: 'jest' | 'tap' }} Peer
 */

/** @type {Readonly<Record<string, Peer>>} */
const PEERS = {
  'express-rate-limit': {
    store: 'source/memory-store.ts',
    text: MEMORY_STORE,
    // Its own configuration is in a package that is not published.
    files: {
      'tsconfig.json':
        '{ "compilerOptions": { "target": "ES2020", "module": "esnext", "moduleResolution": "bundler", "esModuleInterop": true } }',
    },
    without: ['@express-rate-limit/prettier', '@express-rate-limit/tsconfig', '@asyncapi/specs', 'mintlify'],
    command: ['npx', 'jest', '--coverage=false', '--json', '--outputFile=results.json'],
    report: 'jest',
  },
  'hono-rate-limiter': {
    store: 'src/stores/memory.ts',
    text: MEMORY_STORE,
    files: {},
    without: [],
    command: ['npx', 'vitest', 'run', 'src/__tests__', '--reporter=json', '--outputFile=results.json'],
    report: 'jest',
  },
  '@fastify/rate-limit': {
    store: 'store/LocalStore.js',
    text: LOCAL_STORE,
    files: {
      // A test that fails leaves its clock to the next one.
      'reset.mjs': "import { afterEach, mock } from 'node:test';\nafterEach(() => mock.timers.reset());\n",
    },
    hasTests: true,
    without: ['c8', 'eslint', 'knex', 'neostandard', 'sqlite3', 'tstyche', '@types/node', '@sinonjs/fake-timers'],
    edit: ['index.js', /new LocalStore\(.*\)/, 'new LocalStore(globalParams)'],
    // Those of its Redis store need none of ours.
    command: [
      'sh',
      '-c',
      'node --import ./reset.mjs --test --test-reporter=tap --test-reporter-destination=results.tap $(find test -name "*.test.js" ! -name "*redis*")',
    ],
    report: 'tap',
  },
  'better-auth': {
    store: 'src/test-utils/test-instance.ts',
    text: TEST_INSTANCE,
    // Some tests load all of it once more.
    files: { 'vitest.config.js': 'export default { test: { server: { deps: { inline: [/better-auth/] } } } };' },
    without: [],
    package: {
      folder: 'packages/better-auth',
      only: ['package.json', 'src/api/rate-limiter/rate-limiter.test.ts'],
      beside: ['vitest@4.1.11'],
    },
    // Its tests have their database in `node:sqlite`.
    command:
      'npx --yes -p node@24 node node_modules/vitest/vitest.mjs run --reporter=json --outputFile=results.json'.split(
        ' ',
      ),
    report: 'jest',
  },
};

const [name = '', clone = ''] = process.argv.slice(2);
const peer = PEERS[name];
if (peer === undefined || (clone === '' && !peer.hasTests)) {
  const names = Object.entries(PEERS).map(([each, { hasTests }]) =>
    hasTests ? `${each} (without a clone, too)` : each,
  );
  console.error(`Usage: npm run trial -- peer-tests NAME CLONE, where NAME is one of ${names.join(', ')}.`);
  process.exit(1);
}
/** @type {{ version: string, fails: Record<string, string> }} */
const known = JSON.parse(
  readFileSync(join(root, 'test/peer-tests', `${name.replace('@fastify/', 'fastify-')}.json`), 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'sluice-peer-'));
try {
  process.exitCode = await main(peer);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {Peer} of @returns {Promise<number>} the exit code */
async function main(of) {
  const source = clone === '' ? published() : resolve(clone, of.package?.folder ?? '.');
  const filter = (/** @type {string} */ file) => !/\/(node_modules|\.git)$/.test(file);
  for (const each of of.package?.only ?? ['.'])
    cpSync(join(source, each), join(folder, each), { recursive: true, filter });
  const { version } = await install(of);
  mkdirSync(dirname(join(folder, of.store)), { recursive: true });
  writeFileSync(join(folder, of.store), of.text);
  for (const [file, text] of Object.entries(of.files)) writeFileSync(join(folder, file), text);
  if (of.edit !== undefined) {
    const [file, from, to] = of.edit;
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replace(from, to));
  }
  run(of.command, true);
  const results = of.report === 'jest' ? ofJest() : ofTap();
  return compared(version, results);
}

/** Returns the folder of the package as it is published, in the version of the list. */
function published() {
  run(['npm', 'pack', '--silent', `${name}@${known.version}`]);
  run(['sh', '-c', 'tar -xzf *.tgz']);
  return join(folder, 'package');
}

/** @param {Peer} of @returns {Promise<{ version: string }>} its package.json */
async function install({ without, package: one }) {
  const file = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  const tarballs = (await packedOnce()).filter((path) => /sluice-(core|drop-in)-/.test(path));
  for (const each of without) delete manifest.devDependencies[each];
  delete manifest.scripts.prepare;
  writeFileSync(file, JSON.stringify(one === undefined ? manifest : { private: true, type: 'module' }));
  const packages = one === undefined ? [] : [`${manifest.name}@${manifest.version}`, ...one.beside];
  run(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', ...tarballs, ...packages]);
  return manifest;
}

/** @param {readonly string[]} command @param {boolean} [mayFail] tests do */
function run([program = '', ...args], mayFail = false) {
  const { status, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8', env: environment() });
  if (status !== 0 && !mayFail) throw new Error(`${program} ${args.join(' ')}:\n${stderr}`);
}

function environment() {
  const { NODE_OPTIONS: _, ...others } = process.env;
  return { ...others, CI: 'true' };
}

/** @typedef {Map<string, boolean>} Results whether each test passed, by its name */
/** @typedef {{ name: string, message: string, assertionResults: { fullName: string, status: string }[] }} TestFile */

/** @returns {Results} */
function ofJest() {
  const { testResults } = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
  return namedOnce(
    testResults.flatMap((/** @type {TestFile} */ { name: file, message, assertionResults }) => {
      if (assertionResults.length === 0) console.log(`${file}: ${message}`);
      return assertionResults.map(({ fullName, status }) => [`${basename(file)}: ${fullName}`, status === 'passed']);
    }),
  );
}

/** @returns {Results} */
function ofTap() {
  const text = readFileSync(join(folder, 'results.tap'), 'utf8');
  const tests = text.matchAll(/^ *(not )?ok \d+ - (.*)$/gm);
  return namedOnce(
    [...tests]
      .filter(([, , test = '']) => !test.endsWith('.js') && !/# (SKIP|TODO)/.test(test))
      .map(([, not, test = '']) => [test, not === undefined]),
  );
}

/**
 * Numbers the tests of one name.
 *
 * @param {[test: string, passed: boolean][]} tests
 * @returns {Results}
 */
function namedOnce(tests) {
  /** @type {Map<string, number>} */
  const times = new Map();
  return new Map(
    tests.map(([test, passed]) => {
      const count = (times.get(test) ?? 0) + 1;
      times.set(test, count);
      return [count === 1 ? test : `${test} (${count})`, passed];
    }),
  );
}

/** @param {string} version @param {Results} results @returns {number} the exit code */
function compared(version, results) {
  const { fails } = known;
  const failed = [...results].filter(([, passed]) => !passed).map(([test]) => test);
  const problems = [
    ...(version === known.version ? [] : [`The list is for version ${known.version}, and this is ${version}.`]),
    ...failed.filter((test) => !Object.hasOwn(fails, test)).map((test) => `fails: ${test}`),
    ...Object.keys(fails)
      .filter((test) => !failed.includes(test))
      .map((test) => `passes, or is no test: ${test}`),
  ];
  for (const problem of problems) console.log(problem);
  console.log(`${name} ${version}: ${results.size - failed.length} of ${results.size} tests pass over our store`);
  return problems.length === 0 && results.size > 0 ? 0 : 1;
}
