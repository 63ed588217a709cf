// `npm run trial` lists what is run now and then; `npm run trial -- leases-bound --quick` prepares and runs one, with the
// arguments after its name.
import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { root } from './pnpm.mjs';

const TYPESCRIPT = '--import ./test/redis/processes/typescript.mjs';
const SOURCES = `node --conditions=@sluice/source ${TYPESCRIPT}`;
const PROOFS = 'node --conditions=@sluice/source --import ./test/proofs/engine/loader.mjs';

/**
 * @typedef {object} Trial
 * @property {string} what what it does
 * @property {readonly ('declarations' | 'redis' | 'postgres' | 'proxies' | 'chromium')[]} [needs] besides the build
 * @property {string} runs a command; its words have no spaces in them
 * @property {Readonly<Record<string, string>>} [env]
 */

/** @type {Readonly<Record<string, Readonly<Record<string, Trial>>>>} */
const TRIALS = {
  'Break it, and see who notices': {
    'mutants-adapters': {
      what: 'breaks the adapters, one change at a time, and fails if their HTTP contract does not notice one',
      runs: `${SOURCES} test/contract/http/mutants/main.ts`,
    },
    'mutants-formats': {
      what: 'changes what is stored without its version, one field at a time, and fails if test/formats does not notice one',
      needs: ['redis'],
      runs: `${SOURCES} test/formats/mutants/main.ts`,
    },
    'mutants-leases': {
      what: 'breaks sync.lua and the rules of processes, and fails if no test notices one; `rules` or `script` tries a part',
      needs: ['redis'],
      runs: `${SOURCES} test/leases/mutants/main.ts`,
    },
    'mutants-outgoing': {
      what: 'breaks the doors for calls to others, and fails if no test of them notices one, ten minutes; `--only fields/` tries some',
      runs: `${SOURCES} test/contract/outgoing/mutants/main.ts`,
    },
    'mutants-postgres': {
      what: 'breaks the functions of the PostgreSQL store, and fails if the contract of stores does not notice one',
      needs: ['postgres'],
      runs: `${SOURCES} test/postgres/mutants/main.ts`,
    },
    'mutants-proofs': {
      what: 'breaks sources in more than 100 ways, and fails if no theorem about them is refuted',
      runs: `${PROOFS} test/proofs/mutants/main.ts`,
    },
    'mutants-scheduler': {
      what: 'breaks the scheduler, one change at a time, and fails if no test of it notices one',
      runs: `${SOURCES} test/contract/scheduling/mutants/main.ts`,
    },
    prove: {
      what: 'proves all theorems; `window lease` those with one of the texts; `--document` writes docs/proofs.md',
      runs: `${PROOFS} test/proofs/main.ts`,
    },
  },
  'Faults, floods and other versions': {
    formats: {
      what: 'all tests of formats: 10,000 operations by processes of the version before and of this one on each store, a minute',
      needs: ['redis', 'postgres'],
      runs: 'vitest run --project=formats',
      env: { SLUICE_ALL_CASES: 'yes' },
    },
    stalled: {
      what: 'tests in processes whose event loop stops for 300 ms every second; `--project redis` runs some',
      needs: ['declarations', 'redis', 'postgres', 'proxies'],
      runs: 'node scripts/test.mjs stalled',
    },
    faults: {
      what: 'every fault of a Redis under every policy, 17 minutes; `--only SIGSTOP,closed` runs some',
      needs: ['redis'],
      runs: `${SOURCES} test/redis/faults/main.ts`,
      env: { SLUICE_ALL_CASES: 'yes' },
    },
    ends: {
      what: 'ends requests in each way and at each moment, on every framework and store, and prints the slots left',
      needs: ['redis'],
      runs: 'vitest run --project=contract --project=redis test/contract/http/ends',
      env: { SLUICE_TABLE: '1' },
    },
    hostile: {
      what: 'hostile heads, protocol errors and clients that leave, to every adapter and to the port for Envoy, half a minute',
      runs: 'vitest run --project=contract --project=unit test/contract/http/hostile test/contract/http/ends tools/serve/test/protocol-errors.test.ts',
    },
    flood: {
      what: 'floods HTTP/2 servers with and without limits by HEADERS, RST_STREAM and errors, four minutes',
      runs: `node ${TYPESCRIPT} test/floods/main.ts`,
    },
    leaks: {
      what: '200,000 requests on each store; fails if heap, objects, timers or slots grow; `--store redis --requests 20000`',
      needs: ['redis', 'postgres'],
      runs: `node ${TYPESCRIPT} test/leaks/main.ts`,
    },
    paths: {
      what: 'thousands of spellings of paths through nginx, Caddy and HAProxy to six backends, two minutes',
      needs: ['proxies'],
      runs: 'vitest run --project=proxies test/proxies/paths',
      env: { SLUICE_PATHS: '2500' },
    },
    image: {
      what: 'follows deploy/Dockerfile in chroots that debootstrap makes, as root on Linux, a minute',
      runs: `node ${TYPESCRIPT} test/proxies/image/main.ts`,
    },
    systemd: {
      what: 'starts the unit file of `sluice serve` with a real systemd, as root on Linux, half a minute',
      needs: ['proxies'],
      runs: `node ${TYPESCRIPT} test/proxies/systemd/main.ts`,
    },
    conformance: {
      what: '100,000 random requests of grpc-js to the service for Envoy and its oracles, and fuzzes its decoder',
      runs: 'vitest run --project=unit --project=proxies tools/serve/test/conformance tools/serve/test/fuzz test/proxies/window',
      env: { SLUICE_RLS_REQUESTS: '100000' },
    },
    alerts: {
      what: 'makes the cause of each alert while a real Prometheus scrapes an example, two minutes',
      needs: ['redis'],
      runs: `${SOURCES} test/metrics/main.ts`,
    },
    'types-settings': {
      what: 'compiles middlewares beside typed handlers under eight settings of the compiler, half a minute',
      needs: ['declarations'],
      runs: 'vitest run --project=docs test/docs/types-in-settings.test.ts',
      env: { SLUICE_TYPE_SETTINGS: 'all' },
    },
    'ai-versions': {
      what: 'tools/ai with the AI SDK 6 and 7 on Node 20, 22, 24, 100,000 random calls each; `--calls 1000` makes fewer',
      runs: 'node scripts/ai-versions.mjs',
    },
    'drop-in-versions': {
      what: 'the documented usages of six limiters, with their stores and ours, in six versions, four minutes',
      needs: ['redis'],
      runs: 'node scripts/drop-in-versions.mjs',
    },
    servers: {
      what: 'the stores on Redis 8, Valkey 8, Redict and PostgreSQL 14 to 18, six minutes each; `valkey-8.1` runs one, `--get ../servers` unpacks them',
      needs: ['redis', 'postgres'],
      runs: 'node scripts/servers.mjs',
    },
    'proxy-versions': {
      what: 'longest paths, paths under many rules and reset upgrades through three proxies, on Node 20, 22 and 24',
      needs: ['proxies'],
      runs: 'node scripts/proxy-versions.mjs',
      env: { SLUICE_ALL_CASES: 'yes' },
    },
    'opentelemetry-versions': {
      what: 'tools/opentelemetry with its SDK 2.12 on Node 20, and 3.1 on Node 22 and 24, a minute',
      runs: 'node scripts/opentelemetry-versions.mjs',
    },
    'peer-tests': {
      what: 'the tests of another library over our store: `hono-rate-limiter ../its-clone`; @fastify/rate-limit needs no clone',
      runs: 'node scripts/peer-tests.mjs',
    },
    'foreign-files': {
      what: 'files of limits in clones of envoyproxy/ratelimit, Envoy Gateway and Boulder: SLUICE_CLONES=../ratelimit,../gateway',
      runs: 'vitest run --project=unit tools/cli/test/foreign-files',
    },
  },
  Measurements: {
    measures: {
      what: 'what the code weighs: bytes of a request, names, lines, words; fails if a figure rises; `--rooms` says where it is',
      runs: `node ${TYPESCRIPT} test/contract/pins/measures.ts`,
    },
    sizing: {
      what: 'the memory of a bucket in Redis',
      needs: ['redis'],
      runs: `${SOURCES} test/redis/sizing.ts`,
    },
    'turns-postgres': {
      what: 'how many of 1,000 and 5,000 decisions in one turn PostgreSQL makes within their deadline',
      needs: ['postgres'],
      runs: 'node bench/postgres/turns.mjs',
    },
    'leases-table': {
      what: 'the numbers of some leased limits, and how simulated processes use them, a minute',
      runs: `${SOURCES} test/leases/table/main.ts`,
    },
    'leases-bound': {
      what: 'by how much processes with leases exceed a limit on a real Redis, 15 minutes; `--quick` checks that it runs',
      needs: ['redis'],
      runs: `${SOURCES} test/leases/bound/main.ts`,
    },
    scheduled: {
      what: 'how much of a limit 1 to 8 processes with schedulers use on a real Redis, and the scripts for each call, a minute',
      needs: ['redis'],
      runs: `${SOURCES} test/redis/scheduled/main.ts`,
    },
    'outgoing-peers': {
      what: 'calls of 8 processes to servers that limit them, on an idle machine, two minutes; `--minutes 10 --kill`',
      needs: ['redis'],
      runs: `${SOURCES} test/redis/outgoing/main.ts`,
    },
    'leases-capacity': {
      what: 'what simulated processes with leases let through of what one shared bucket does, a minute',
      runs: `${SOURCES} test/leases/capacity/main.ts`,
    },
    processes: {
      what: 'what processes let through that share a limit by a store, leases, split budgets or gossip; `--write` draws it',
      runs: `${SOURCES} scripts/processes/main.ts`,
    },
    'market-open': {
      what: 'a rise from 18,000 to 285,000 requests a second, with and without leases; `--write` writes the result of the docs',
      needs: ['redis'],
      runs: `${SOURCES} test/leases/market-open/main.ts`,
    },
    'site-paint': {
      what: 'how long a new browser waits for the first picture of some pages',
      needs: ['chromium'],
      runs: `node ${TYPESCRIPT} test/site/paint.ts`,
    },
  },
  'Files that are written from the sources; tests fail when they differ': {
    api: { what: 'the public types of all packages, into api/', runs: 'node scripts/api.mjs --update' },
    schemas: { what: 'the JSON Schemas of limits as files', runs: `${SOURCES} scripts/write-schemas.mjs` },
    golden: {
      what: 'samples of what the version before stores, which test/formats reads: made by its packages',
      needs: ['redis', 'postgres'],
      runs: `${SOURCES} test/formats/golden/main.ts`,
    },
    'docs-tables': {
      what: 'the tables of docs that follow from the source, llms.txt of the site and the skill in @sluice/core',
      runs: `${SOURCES} scripts/docs-tables.mjs`,
    },
  },
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) console.log(list());
else process.exitCode = runTrial(name, args);

function list() {
  const width = Math.max(...Object.values(TRIALS).flatMap((trials) => Object.keys(trials).map(({ length }) => length)));
  const groups = Object.entries(TRIALS).map(([title, trials]) => {
    const lines = Object.entries(trials).map(([each, { what }]) => `  ${each.padEnd(width)}  ${what}`);
    return [title, ...lines].join('\n');
  });
  return ['npm run trial -- NAME ARGUMENTS', ...groups].join('\n\n');
}

/**
 * @param {string} chosen
 * @param {readonly string[]} given its arguments
 * @returns {number} the status that it ended with
 */
function runTrial(chosen, given) {
  const trial = Object.values(TRIALS).find((trials) => Object.hasOwn(trials, chosen))?.[chosen];
  if (trial === undefined) {
    console.error(`There is no trial named ${chosen}. \`npm run trial\` lists them.`);
    return 1;
  }
  const { needs = [], runs, env } = trial;
  const setup = needs.includes('declarations') ? ['scripts/setup.mjs', '--declarations'] : ['scripts/setup.mjs'];
  const servers = needs.filter((need) => need !== 'declarations').map((need) => [`scripts/${need}.mjs`]);
  for (const step of [setup, ...servers]) {
    const status = run(process.execPath, step);
    if (status !== 0) return status;
  }
  const [command = '', ...words] = runs.split(' ');
  return run(command, [...words, ...given], env);
}

/**
 * @param {string} command
 * @param {readonly string[]} words
 * @param {Readonly<Record<string, string>>} [env]
 */
function run(command, words, env) {
  const path = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH;
  const { status } = spawnSync(command, words, {
    cwd: root,
    env: { ...process.env, ...env, PATH: path },
    stdio: 'inherit',
  });
  return status ?? 1;
}
