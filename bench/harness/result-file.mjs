import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Results } from './results.mjs';

/**
 * What a result file holds.
 *
 * @typedef {object} ResultFile
 * @property {string} part
 * @property {string} command
 * @property {string} date
 * @property {import('./machine.mjs').Machine} machine
 * @property {Readonly<Record<string, string>>} versions
 * @property {import('./results.mjs').Result[]} results
 */

const LINE_WIDTH = 120;
const LIST_OF_NUMBERS = /^( *)(".*": )\[\n([-+.e\d\s,]+)\](,?)$/gm;

/**
 * @param {string} part
 * @param {{ isWhole?: boolean }} [run] Results of some contenders or cases lie apart: they are not committed.
 */
export function resultFile(part, { isWhole = true } = {}) {
  return new URL(isWhole ? `../results/${part}.json` : `../results/some/${part}.json`, import.meta.url);
}

/**
 * @param {URL} file
 * @param {Omit<ResultFile, 'results'> & { results: Results }} content
 */
export function writeResults(file, content) {
  mkdirSync(new URL('.', file), { recursive: true });
  const json = JSON.stringify(content, roundedFigure, 2);
  writeFileSync(file, `${json.replace(LIST_OF_NUMBERS, inFullLines)}\n`);
}

/**
 * @param {URL} file
 * @returns {Omit<ResultFile, 'results'> & { results: Results }}
 */
export function readResults(file) {
  const content = /** @type {ResultFile} */ (JSON.parse(readFileSync(file, 'utf8')));
  return { ...content, results: new Results(content.results) };
}

// Five digits are more than any measurement here is worth.
/** @type {(key: string, value: unknown) => unknown} */
function roundedFigure(_key, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}

/**
 * A list of numbers as Prettier writes it.
 *
 * @param {string} _match
 * @param {string} indent
 * @param {string} name
 * @param {string} items
 * @param {string} comma
 */
function inFullLines(_match, indent, name, items, comma) {
  const list = items.trim().replaceAll(/\s+/g, ' ');
  const line = `${indent}${name}[${list}]${comma}`;
  if (line.length <= LINE_WIDTH) return line;
  const start = `${indent}  `;
  const width = LINE_WIDTH - start.length;
  // The last line ends without a comma.
  const fullLine = new RegExp(`(.{1,${width}}$|.{1,${width - 1}},) ?`, 'g');
  return `${indent}${name}[\n${list.replace(fullLine, `${start}$1\n`)}${indent}]${comma}`;
}
