// `npm test` and `npm run test:quick`: vitest on some of the projects of vitest.config.ts, or on those and the files
// that are named.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

const NO_SERVER = 'none-in-test:quick (a test that needs one is named *.redis.test.ts)';

const forms = {
  /** Takes less than a minute and needs no redis-server: a test that starts one fails. */
  quick: { projects: ['unit', 'contract', 'property'], propertyRuns: '50', env: { SLUICE_REDIS_SERVER: NO_SERVER } },
  /** All but what takes long and changes rarely: .ci/run also runs floods, the programs of bench/ and loaders. */
  usual: {
    projects: ['unit', 'contract', 'property', 'redis', 'docs', 'examples', 'packed', 'faults'],
    propertyRuns: '1000',
    env: {},
  },
};

const [form = 'usual', ...args] = process.argv.slice(2);
const { projects, propertyRuns, env } = forms[/** @type {keyof typeof forms} */ (form)];
const areChosen = args.some((arg) => arg.startsWith('--project') || !arg.startsWith('-'));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', ...(areChosen ? [] : projects.map((name) => `--project=${name}`)), ...args],
  { cwd: root, env: { SLUICE_PROPERTY_RUNS: propertyRuns, ...process.env, ...env }, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
