import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spreadOf } from './statistics.mjs';

/**
 * @typedef {import('./part.ts').Run} Run
 * @typedef {import('./part.ts').Figures} Figures
 * @typedef {import('./statistics.mjs').Spread} Spread
 */

/**
 * What one contender did in one case: its figures round by round.
 *
 * @typedef {{ contender: string, case: string, rounds: Figures[] }} Result
 */

/**
 * What a result file holds.
 *
 * @typedef {object} ResultFile
 * @property {string} part
 * @property {string} command
 * @property {string} date
 * @property {import('./machine.mjs').Machine} machine
 * @property {Readonly<Record<string, string>>} versions
 * @property {Result[]} results
 */

/** The figures of a part, as its runs come in. */
export class Results {
  /** @type {Result[]} */
  #results;

  /** @param {Result[]} [results] */
  constructor(results = []) {
    this.#results = results;
  }

  /**
   * @param {Pick<Run, 'contender' | 'case'>} run
   * @param {Figures} figures
   */
  add(run, figures) {
    let result = this.#find(run.contender, run.case);
    if (result === undefined) {
      result = { contender: run.contender, case: run.case, rounds: [] };
      this.#results.push(result);
    }
    result.rounds.push(figures);
  }

  /** @returns {string[]} */
  get contenders() {
    return [...new Set(this.#results.map(({ contender }) => contender))];
  }

  /** @returns {Result[]} */
  toJSON() {
    return this.#results;
  }

  /**
   * @param {string} contender
   * @param {string} caseName
   * @param {string} figure
   * @returns {Spread | undefined} `undefined` when the contender is not in this case
   */
  figure(contender, caseName, figure) {
    const rounds = this.#rounds(contender, caseName, figure);
    return rounds === undefined ? undefined : spreadOf(rounds);
  }

  /**
   * A contender's figure ÷ that of another in the same case, each round by itself: what slows both down cancels out.
   *
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @returns {Spread | undefined}
   */
  ratio(contender, baseline, caseName, figure) {
    return this.#compared(contender, baseline, caseName, figure, (own, other) => own / other);
  }

  /**
   * A contender's figure less that of another in the same case, each round by itself.
   *
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @returns {Spread | undefined}
   */
  difference(contender, baseline, caseName, figure) {
    return this.#compared(contender, baseline, caseName, figure, (own, other) => own - other);
  }

  /**
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @param {(own: number, other: number) => number} compare
   */
  #compared(contender, baseline, caseName, figure, compare) {
    const own = this.#rounds(contender, caseName, figure);
    const other = this.#rounds(baseline, caseName, figure);
    if (own === undefined || other === undefined) return undefined;
    return spreadOf(own.map((value, round) => compare(value, /** @type {number} */ (other[round]))));
  }

  /**
   * @param {string} contender
   * @param {string} caseName
   * @param {string} figure
   * @returns {number[] | undefined}
   */
  #rounds(contender, caseName, figure) {
    const values = this.#find(contender, caseName)?.rounds.map((figures) => figures[figure]);
    return values?.every((value) => value !== undefined) === true ? values : undefined;
  }

  /**
   * @param {string} contender
   * @param {string} caseName
   */
  #find(contender, caseName) {
    return this.#results.find((result) => result.contender === contender && result.case === caseName);
  }
}

/**
 * @param {string} part
 * @param {{ quick: boolean }} scale Quick results lie apart: they are no figures to quote.
 */
export function resultFile(part, { quick }) {
  return new URL(quick ? `../results/quick/${part}.json` : `../results/${part}.json`, import.meta.url);
}

/**
 * @param {URL} file
 * @param {Omit<ResultFile, 'results'> & { results: Results }} content
 */
export function writeResults(file, content) {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(content, roundedFigure, 2)}\n`);
}

/**
 * @param {URL} file
 * @returns {Omit<ResultFile, 'results'> & { results: Results }}
 */
export function readResults(file) {
  const content = /** @type {ResultFile} */ (JSON.parse(readFileSync(file, 'utf8')));
  return { ...content, results: new Results(content.results) };
}

// Six digits are more than any measurement here is worth.
/** @type {(key: string, value: unknown) => unknown} */
function roundedFigure(_key, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}
