// `npm test`, `npm run test:quick`, `npm run test:all` and `npm run trial -- stalled`: vitest on some of the projects of
// vitest.config.ts, or on those and the files that are named.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './pnpm.mjs';

const NO_SERVER = 'none-in-test:quick (a test that needs one is named *.redis.test.ts or *.postgres.test.ts)';

const usual = [
  'unit',
  'nest',
  'contract',
  'redis',
  'postgres',
  'property',
  'server-property',
  'pins',
  'formats',
  'docs',
  'smoke',
];
/** What takes long and changes rarely. */
const long = [
  'site',
  'bench',
  'nest-12',
  'programs',
  'faults',
  'playground',
  'proxies',
  'aborts',
  'stress',
  'loaders',
  'packed',
];
/** Tests that may run at any speed, with the processor time that other tests leave. */
const untimed = ['property', 'server-property', 'loaders', 'packed', 'bench', 'site', 'playground', 'pins'];

const forms = {
  /** Needs no server: a test that starts one fails. */
  quick: {
    about:
      'test:quick: tests of single packages, the contracts, and 50 inputs of each property, without a server: minutes.',
    projects: ['unit', 'nest', 'contract', 'property'],
    propertyRuns: '50',
    env: { SLUICE_REDIS_SERVER: NO_SERVER, SLUICE_POSTGRES: NO_SERVER },
  },
  /** Many of its tests wait for a server: with two workers, two cores have nothing to do for half of the time. */
  usual: { projects: usual, propertyRuns: '100', env: { SLUICE_TEST_WORKERS: '3' } },
  all: {
    projects: [...usual, ...long],
    propertyRuns: '1000',
    env: { SLUICE_ALL_BUNDLERS: 'yes', SLUICE_ALL_CLIENTS: 'yes', SLUICE_ALL_CASES: 'yes' },
  },
  /** Each process stalls now and then: a test that depends on the speed of the machine fails. */
  stalled: {
    projects: [...usual, 'faults', 'proxies', 'programs'].filter((name) => name !== 'pins' && name !== 'property'),
    propertyRuns: '1',
    env: { NODE_OPTIONS: `--import ${pathToFileURL(join(root, 'test', 'stalls.mjs')).href}` },
  },
  /** The parts of .ci/run: together they are the projects of `all`, with fewer inputs. */
  timed: { projects: [...usual, ...long].filter((name) => !untimed.includes(name)), propertyRuns: '1', env: {} },
  untimed: { projects: untimed, propertyRuns: '100', env: {} },
};

const [form = 'usual', ...args] = process.argv.slice(2);
/** @type {{ about?: string, projects: string[], propertyRuns: string, env: Record<string, string> }} */
const { about, projects, propertyRuns, env } = forms[/** @type {keyof typeof forms} */ (form)];
if (about !== undefined) console.log(about);
const areChosen = args.some((arg) => arg.startsWith('--project') || !arg.startsWith('-'));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', ...(areChosen ? [] : projects.map((name) => `--project=${name}`)), ...args],
  { cwd: root, env: { SLUICE_PROPERTY_RUNS: propertyRuns, ...process.env, ...env }, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
