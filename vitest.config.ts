import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests and coverage read src, not dist, through this condition of every package's `exports`.
const conditions = ['@sluice/source', 'node'];

const minute = 60_000;

/**
 * The names of files that start a redis-server or a PostgreSQL server, that take long on a large input, and that run programs
 * of the docs.
 */
const onRedis = '**/*.redis.test.ts';
const onPostgres = '**/*.postgres.test.ts';
const onLargeInput = '**/*.stress.test.ts';
const ofPrograms = '**/*.program.test.ts';
const ofNest = 'packages/nestjs/test/**/*.test.ts';
/** The packages of NestJS 12 in place of those of NestJS 11, which packages/nestjs is built with. */
const nest12 = [
  {
    find: /^(@nestjs\/[^/]+|graphql)$/,
    replacement: fileURLToPath(new URL('test/nest-12/node_modules/$1', import.meta.url)),
  },
];
/** What knows no version of Nest, which only `npm run test:all` tries with both. */
const ofNoVersion =
  process.env['SLUICE_ALL_CASES'] === 'yes' ? [] : ['packages/nestjs/test/{decorators,own-contexts,throttler}.test.ts'];
/** Another version of `ai` in place of the one that tools/ai is tested with: see scripts/ai-versions.mjs. */
const aiFolder = process.env['SLUICE_AI'];
const otherAi =
  aiFolder === undefined
    ? []
    : [
        { find: /^ai$/, replacement: `${aiFolder}/dist/index.js` },
        { find: /^ai\/test$/, replacement: `${aiFolder}/dist/test/index.js` },
      ];
/** The same of OpenTelemetry for tools/opentelemetry: see scripts/opentelemetry-versions.mjs. */
const otelFolder = process.env['SLUICE_OPENTELEMETRY'];
const otherOtel =
  otelFolder === undefined ? [] : [{ find: /^(@opentelemetry\/[^/]+)$/, replacement: `${otelFolder}/$1` }];
const smoke = 'test/examples/smoke.test.ts';

/** The packages beside their newest peers, and with Jest, old compilers and bundlers. */
const loaders = 'test/packed/loaders.test.ts';

/** Takes a minute, and measures neither time nor memory, so it may run beside others. */
const aborts = 'test/stress/aborted-requests.test.ts';

/** Measures the memory of a process of its own, so it may run beside others too. */
const leaks = 'test/leaks/*.test.ts';
const floods = 'test/floods/*.test.ts';

const properties = ['test/property/setup.ts'];
/** Many times the usual inputs take many times as long. */
const propertyMs = 10 * minute * Math.max(1, Number(process.env.SLUICE_PROPERTY_RUNS ?? 0) / 1000);
const pins = 'test/contract/pins/pins.test.ts';

/** The files of a worker share a process, whose start was most of their time, and a Redis Cluster. */
const shared = { isolate: false, setupFiles: ['test/fresh-modules.ts'] };

const onServers = { exclude: [], isolate: false, setupFiles: ['test/redis/servers/teardown.ts'] };

/** Each of the many processes of the tests would read the certificates of the environment when it starts, for 45 ms. */
const withoutCertificates = { NODE_EXTRA_CA_CERTS: '' };
/** For tests that use a package registry. */
const withCertificates = { env: {} };

/**
 * One row per project: what it collects, and how long one of its tests may take. Those that are `alone` run before
 * all others, in that order, one file at a time, so that they do not disturb each other. scripts/test.mjs has which
 * projects which command runs.
 */
const projects = [
  {
    name: 'unit',
    include: ['{packages,tools}/*/test/**/*.test.ts'],
    exclude: [ofNest, onRedis, onPostgres, onLargeInput],
    alias: [...otherAi, ...otherOtel],
    ...shared,
  },
  // A process for each file: after hundreds of others, Nest once did not find a provider of its own.
  { name: 'nest', include: [ofNest] },
  { name: 'nest-12', include: [ofNest], exclude: ofNoVersion, alias: nest12 },
  { name: 'contract', include: ['test/contract/**/*.test.ts'], exclude: [onRedis, onPostgres, pins], ...shared },
  // What a request makes depends on what its process has done before.
  { name: 'pins', include: [pins], timeoutMs: 5 * minute },
  {
    name: 'property',
    include: ['test/property/**/*.test.ts'],
    timeoutMs: propertyMs,
    isolate: false,
    setupFiles: [...shared.setupFiles, ...properties],
  },
  {
    name: 'redis',
    include: [`{packages,tools}/${onRedis}`, `test/contract/${onRedis}`],
    timeoutMs: 5 * minute,
    ...onServers,
  },
  {
    name: 'postgres',
    include: [`{packages,tools}/${onPostgres}`, `test/contract/${onPostgres}`],
    ...onServers,
  },
  {
    name: 'server-property',
    include: [`test/property/${onRedis}`, `test/property/${onPostgres}`],
    timeoutMs: propertyMs / 2,
    ...onServers,
    setupFiles: [...properties, ...onServers.setupFiles],
  },
  // What is stored, and two versions beside each other.
  {
    name: 'formats',
    include: ['test/formats/**/*.test.ts'],
    // The first of them builds the packages of an earlier commit.
    timeoutMs: 10 * minute,
    ...onServers,
    ...withCertificates,
  },
  { name: 'docs', include: ['test/docs/**/*.test.ts'], exclude: [ofPrograms], ...shared },
  { name: 'smoke', include: [smoke] },
  // In a real browser.
  { name: 'playground', include: ['test/playground/**/*.test.ts'] },
  {
    name: 'programs',
    include: ['test/examples/**/*.test.ts', `test/docs/${ofPrograms}`],
    exclude: [smoke],
    ...shared,
  },
  {
    name: 'packed',
    include: ['test/packed/*.test.ts'],
    exclude: [loaders],
    timeoutMs: 10 * minute,
    ...withCertificates,
  },
  { name: 'loaders', include: [loaders], timeoutMs: 10 * minute, ...withCertificates },
  // Real proxies in front of a real backend: the programs of three vendors.
  { name: 'proxies', include: ['test/proxies/**/*.test.ts'], ...onServers },
  { name: 'site', include: ['test/site/*.test.ts'], timeoutMs: 5 * minute },
  { name: 'aborts', include: [aborts, leaks, floods], timeoutMs: 10 * minute },
  { name: 'bench', include: ['test/bench/**/*.test.ts'], timeoutMs: 10 * minute },
  // Servers are killed, paused and made late here, and what a client makes of it is timed.
  {
    name: 'faults',
    include: ['test/{redis,host,postgres}/**/*.test.ts'],
    ...onServers,
    alone: 1,
  },
  // A flood measures the memory that it leaves behind, so it must be able to collect it.
  {
    name: 'stress',
    include: ['test/stress/**/*.test.ts', `{packages,tools}/${onLargeInput}`],
    exclude: [aborts],
    timeoutMs: 10 * minute,
    execArgv: ['--expose-gc'],
    alone: 2,
  },
];

/**
 * One for each core of a small machine. With a third, a Sentinel once got too little time to replace its primary. `npm test`,
 * which has no other work beside it, uses three: see scripts/test.mjs.
 */
const workers = Number(process.env.SLUICE_TEST_WORKERS ?? 2);

/** The projects with the longest files. They start first: if one of them started last, the other workers would wait for it. */
const longest = new Set(['site', 'bench', 'loaders', 'packed']);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ project }: TestSpecification) => longest.has(project.name);
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    maxWorkers: workers,
    // A project transforms what another one has transformed, which took a tenth of the time. In a clone that is edited it could
    // use what a changed package.json no longer leads to.
    experimental: { fsModuleCache: process.env['CI'] !== undefined },
    sequence: { sequencer: LongestFirst },
    passWithNoTests: true,
    projects: projects.map(
      ({ timeoutMs = 2 * minute, alone, exclude = [onRedis, onPostgres, onLargeInput], ...project }) => ({
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        test: {
          env: withoutCertificates,
          ...project,
          exclude: ['**/node_modules/**', ...exclude],
          testTimeout: timeoutMs,
          hookTimeout: timeoutMs,
          // A test that waits for something looks often: 50 ms, the default, were half the time of the HTTP contracts. It
          // waits long enough for a machine that does twenty times as much besides: a second is the default.
          expect: { poll: { interval: 5, timeout: minute } },
          maxWorkers: alone === undefined ? workers : 1,
          fileParallelism: alone === undefined,
          sequence: { groupOrder: alone ?? 3 },
        },
      }),
    ),
    coverage: {
      provider: 'v8',
      include: ['{packages,tools}/*/src/**/*.ts'],
      reporter: ['text', 'html'],
      thresholds: {
        '{packages/core,tools/domains,tools/config}/src/**': {
          lines: 100,
          branches: 100,
          functions: 100,
          statements: 100,
        },
        '{packages,tools}/*/src/**': { lines: 95, branches: 95, functions: 95, statements: 95 },
      },
    },
  },
});
