import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { ofClone } from '../harness/clone.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';

const YARDSTICK = 'express-rate-limit';

/**
 * The modules, by contender.
 *
 * @type {Readonly<Record<string, string>>}
 */
const MODULES = {
  Sluice: '@sluice/express',
  [YARDSTICK]: 'express-rate-limit',
  'Sluice for Koa': '@sluice/koa',
  'koa-ratelimit': 'koa-ratelimit',
  'Sluice for Fastify': '@sluice/fastify',
  '@fastify/rate-limit': '@fastify/rate-limit',
  'Sluice for Hono': '@sluice/hono',
  'Sluice, drop-in': '@sluice/drop-in/express-rate-limit',
};

/** The middlewares for Express: both export `rateLimit`, and need nothing but themselves. */
const BUNDLED = ['Sluice', YARDSTICK];

const IMPORT = 'import()';
const REQUIRE = 'require()';
const BUNDLE = 'bundle';

/** How a process loads a module. */
const LOADS = {
  [IMPORT]: { type: 'module', load: 'await import(process.argv[1])' },
  [REQUIRE]: { type: 'commonjs', load: 'require(process.argv[1])' },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'weight: what a middleware adds to a program',
  rounds: 7,
  turns: () => 1,
  runs: () => [
    ...[IMPORT, REQUIRE].flatMap((name) => Object.keys(MODULES).map((contender) => ({ contender, case: name }))),
    ...BUNDLED.map((contender) => ({ contender, case: BUNDLE })),
  ],
  prepare: async ({ contender, case: name }) => {
    const module = MODULES[contender] ?? '';
    if (name === BUNDLE) return () => bundled(fileURLToPath(import.meta.resolve(module)));
    return name === IMPORT
      ? () => loaded(IMPORT, import.meta.resolve(module))
      : () => loaded(REQUIRE, createRequire(ofClone('bench/')).resolve(module));
  },
  // The compression of another Node differs a little.
  counts: { cases: [BUNDLE], figures: { minifiedKb: 0.005, gzippedKb: 0.01 } },
  tables: (results) => [loadTable(results), bundleTable(results)],
};

/**
 * The processor time that a new process needs to load a module.
 *
 * @param {keyof typeof LOADS} way
 * @param {string} file
 */
async function loaded(way, file) {
  const { type, load } = LOADS[way];
  const program = `
    const start = process.cpuUsage();
    ${load};
    const { user, system } = process.cpuUsage(start);
    console.log((user + system) / 1000);`;
  // In node_modules, require() of an ES module prints no warning either.
  const args = ['--no-warnings', `--input-type=${type}`, '--eval', program, file];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return { loadMs: Number(stdout) };
}

/**
 * The sizes of a bundle that has only `rateLimit` and what it needs.
 *
 * @param {string} file
 */
async function bundled(file) {
  const entry = 'entry';
  const build = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? `export { rateLimit } from ${JSON.stringify(file)};` : null),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  const code = output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('');
  return { minifiedKb: Buffer.byteLength(code) / 1000, gzippedKb: gzipSync(code).length / 1000 };
}

/** @param {import('../harness/results.mjs').Results} results */
function loadTable(results) {
  const cell = (/** @type {string} */ contender, /** @type {string} */ name) => {
    const ratio = withSpread(results.ratio(contender, YARDSTICK, name, 'loadMs'), times);
    return `${withSpread(results.figure(contender, name, 'loadMs'), tenths)}  ${ratio}`;
  };
  return {
    title: `Processor time to load it: ms, and × ${YARDSTICK}`,
    rows: [
      ['', IMPORT, REQUIRE],
      ...results.contenders.map((contender) => [contender, cell(contender, IMPORT), cell(contender, REQUIRE)]),
      ['target for Sluice', `≤ ${times(0.8)}`, `≤ ${times(1)}`],
    ],
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function bundleTable(results) {
  const kilobytes = (/** @type {string} */ contender, /** @type {string} */ figure) =>
    withSpread(results.figure(contender, BUNDLE, figure), whole);
  const rows = BUNDLED.map((contender) => [
    contender,
    kilobytes(contender, 'minifiedKb'),
    kilobytes(contender, 'gzippedKb'),
  ]);
  return {
    title: 'A bundle of a middleware for Express alone',
    rows: [['', 'kB', 'gzip: kB'], ...rows, ['target for Sluice', '≤ 130', '≤ 45']],
  };
}
