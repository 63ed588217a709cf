import { readFileSync, writeFileSync } from 'node:fs';
import { ofClone } from './beside-table.mjs';

/** The counts of a part by what they are, each a run and a figure of it. @typedef {Readonly<Record<string, number>>} Counts */

const FILE = new URL('../counts.json', import.meta.url);

/**
 * What is counted in the runs of a part.
 *
 * @param {import('./part.ts').Part} part
 * @param {import('./results.mjs').Results} results
 * @param {readonly string[]} clones Whose runs are left out.
 * @returns {Counts}
 */
export function countsOf({ counts }, results, clones) {
  const own = results
    .toJSON()
    .filter(({ contender }) => !clones.some((clone) => contender.endsWith(ofClone('', clone))));
  const all = own.flatMap(({ contender, case: name }) =>
    Object.keys(counts.figures).map((figure) => {
      const value = results.figure(contender, name, figure)?.median;
      return /** @type {const} */ ([`${name}: ${contender}: ${figure}`, value]);
    }),
  );
  return Object.fromEntries(
    all.flatMap(([what, value]) => (value === undefined ? [] : [[what, Number(value.toPrecision(4))]])),
  );
}

/** @returns {Readonly<Record<string, Counts>>} The committed counts, by part. */
export function committedCounts() {
  return JSON.parse(readFileSync(FILE, 'utf8'));
}

/**
 * Writes the counts of a part, without those that depend on chance.
 *
 * @param {string} name
 * @param {Counts} counts
 * @param {import('./part.ts').Part} part
 */
export function writeCounts(name, counts, part) {
  const kept = Object.entries(counts).filter(([what]) => typeof boundOf(what, part) === 'number');
  const all = { ...committedCounts(), [name]: Object.fromEntries(kept) };
  writeFileSync(FILE, `${JSON.stringify(all, undefined, 2)}\n`);
}

/**
 * @param {Counts} counts
 * @param {Counts} committed
 * @param {import('./part.ts').Part} part
 * @returns {{ rows: string[][], worse: string[] }} a row for each count; and what is higher than the part allows, or new
 */
export function comparedCounts(counts, committed, part) {
  const rows = Object.entries(counts).map(([what, value]) => {
    const bound = boundOf(what, part);
    const before = committed[what];
    const most = typeof bound === 'number' ? (before ?? NaN) * (1 + bound) : bound.atMost;
    const shown = typeof bound === 'number' ? String(before ?? '–') : `≤ ${most}`;
    return [what, shown, String(value), value <= most ? '' : 'higher'];
  });
  return { rows, worse: rows.filter((row) => row.at(-1) !== '').map((row) => row.join('  ')) };
}

/**
 * @param {string} what
 * @param {import('./part.ts').Part} part
 */
function boundOf(what, { counts }) {
  return counts.figures[what.slice(what.lastIndexOf(' ') + 1)] ?? 0;
}
