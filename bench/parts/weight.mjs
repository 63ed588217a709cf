import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';

const YARDSTICK = 'express-rate-limit';

/** The middlewares for Express, by contender: all of them export `rateLimit`, and need nothing but themselves. */
const MIDDLEWARES = { Sluice: '@sluice/express', [YARDSTICK]: 'express-rate-limit' };

const IMPORT = 'import()';
const BUNDLE = 'bundle';

/** The program of a process that imports a module, and prints the processor time of that in milliseconds. */
const PROGRAM = `
const start = process.cpuUsage();
await import(process.argv[1]);
const { user, system } = process.cpuUsage(start);
console.log((user + system) / 1000);`;

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'weight: what a middleware for Express adds to a program',
  rounds: 7,
  turns: () => 1,
  runs: () =>
    [IMPORT, BUNDLE].flatMap((name) => Object.keys(MIDDLEWARES).map((contender) => ({ contender, case: name }))),
  prepare: async ({ contender, case: name }) => {
    const url = import.meta.resolve(MIDDLEWARES[/** @type {keyof typeof MIDDLEWARES} */ (contender)]);
    return () => (name === IMPORT ? imported(url) : bundled(url));
  },
  tables: (results) => [tableOf(results)],
};

/** @param {string} url */
async function imported(url) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM, url]);
  return { importMs: Number(stdout) };
}

/**
 * The sizes of a bundle that has only `rateLimit` and what it needs.
 *
 * @param {string} url
 */
async function bundled(url) {
  const entry = 'entry';
  const build = await rolldown({
    input: entry,
    platform: 'node',
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? `export { rateLimit } from ${JSON.stringify(fileURLToPath(url))};` : null),
      },
    ],
  });
  const { output } = await build.generate({ format: 'esm', minify: true });
  await build.close();
  const code = output.map((chunk) => ('code' in chunk ? chunk.code : '')).join('');
  return { minifiedKb: Buffer.byteLength(code) / 1000, gzippedKb: gzipSync(code).length / 1000 };
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const rows = results.contenders.map((contender) => [
    contender,
    `${withSpread(results.figure(contender, IMPORT, 'importMs'), tenths)}  ${withSpread(results.ratio(contender, YARDSTICK, IMPORT, 'importMs'), times)}`,
    withSpread(results.figure(contender, BUNDLE, 'minifiedKb'), whole),
    withSpread(results.figure(contender, BUNDLE, 'gzippedKb'), whole),
  ]);
  return {
    title: `The middleware alone: processor time of import(), and × ${YARDSTICK}; its bundle`,
    rows: [
      ['', 'import(): ms', 'bundle: kB', 'gzip: kB'],
      ...rows,
      ['target for Sluice', `≤ ${times(1)}`, '≤ 190', '≤ 65'],
    ],
  };
}
