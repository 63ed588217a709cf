// `node bench/compare.mjs <folder>` sets the results that lie in a folder beside the committed ones: what both say of
// Sluice, how far they lie apart, and how far the rounds of a run do. It ends with the cases in which the runs lie further
// apart than their rounds.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readResults, resultFile } from './harness/result-file.mjs';
import { tableText, times, tenths, withSpread } from './harness/table.mjs';

const [folder = ''] = process.argv.slice(2);
if (folder === '') {
  console.error('Name the folder of another run: node bench/compare.mjs ../copy/of/results');
  process.exit(1);
}
const elsewhere = pathToFileURL(`${resolve(folder)}/`);

/**
 * What is compared in each case of a part: Sluice's own figure, or its ratio to another's, or how much more it is.
 *
 * @typedef {{ figure: string, against?: string, less?: string }} Claim
 * @typedef {import('./harness/statistics.mjs').Spread} Spread
 */

/** @type {Readonly<Record<string, readonly Claim[]>>} */
const CLAIMS = {
  memory: [{ figure: 'nanoseconds', against: 'bare Map' }],
  bytes: [{ figure: 'heapBytes' }],
  stalls: [{ figure: 'busyMs' }],
  http: [
    { figure: 'requestsPerSecond', against: 'ten-line GCRA' },
    { figure: 'serverCpuMicros', less: 'ten-line GCRA' },
  ],
  redis: [{ figure: 'decisionsPerSecond', against: 'rate-limit-redis' }],
};

/** @type {string[]} */
const beyond = [];
let compared = 0;

for (const [part, claims] of Object.entries(CLAIMS)) {
  const runs = [resultFile(part), new URL(`${part}.json`, elsewhere)].map((file) => readResults(file));
  const cases = new Set(runs[0]?.results.toJSON().map((result) => result.case));
  for (const claim of claims) {
    const title = titleOf(part, claim);
    const rows = [...cases].map((name) => rowOf({ name, title, claim, runs }));
    console.log(tableText({ title, rows: [['', 'committed', 'there', 'apart', 'noise'], ...rows] }));
  }
}
console.log(`Of ${compared} cases the two runs lie further apart than their noise in ${beyond.length}.`);
for (const name of beyond) console.log(`  ${name}`);

/**
 * @param {string} part
 * @param {Claim} claim
 */
function titleOf(part, { figure, against, less }) {
  if (against !== undefined) return `${part}: ${figure} ÷ ${against}`;
  return `${part}: ${figure}${less === undefined ? '' : ` more than ${less}`}`;
}

/** @param {{ name: string, title: string, claim: Claim, runs: readonly ReturnType<typeof readResults>[] }} compared */
function rowOf({ name, title, claim, runs }) {
  const format = claim.against === undefined ? tenths : times;
  const spreads = runs.map(({ results }) => spreadIn(results, name, claim));
  const [here, there] = spreads;
  if (here === undefined || there === undefined) return [name, ...spreads.map((spread) => withSpread(spread, format))];
  const noise = Math.max(...[here, there].map(({ min, max }) => max - min));
  const apart = Math.abs(here.median - there.median);
  compared++;
  if (apart > noise) beyond.push(`${title}, ${name}`);
  return [name, withSpread(here, format), withSpread(there, format), format(apart), format(noise)];
}

/**
 * @param {import('./harness/results.mjs').Results} results
 * @param {string} name
 * @param {Claim} claim
 * @returns {Spread | undefined}
 */
function spreadIn(results, name, { figure, against, less }) {
  if (against !== undefined) return results.ratio('Sluice', against, name, figure);
  if (less !== undefined) return results.difference('Sluice', less, name, figure);
  return results.figure('Sluice', name, figure);
}
