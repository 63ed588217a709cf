import { quartilesOf, spreadOf } from './statistics.mjs';

/**
 * @typedef {import('./part.ts').Run} Run
 * @typedef {import('./part.ts').Figures} Figures
 * @typedef {import('./statistics.mjs').Spread} Spread
 * @typedef {import('./statistics.mjs').Quartiles} Quartiles
 */

/**
 * The figures of one round, each turn by turn.
 *
 * @typedef {Readonly<Record<string, readonly number[]>>} Round
 */

/**
 * What one contender did in one case.
 *
 * @typedef {{ contender: string, case: string, rounds: Round[] }} Result
 */

/** The figures of a part, as its runs come in. */
export class Results {
  /** @type {Result[]} */
  #results;

  /** Why runs of other clones cannot be compared, by what they are. @type {Map<string, string>} */
  notCompared = new Map();

  /** @param {Result[]} [results] */
  constructor(results = []) {
    this.#results = results;
  }

  /**
   * Adds a round.
   *
   * @param {Pick<Run, 'contender' | 'case'>} run
   * @param {readonly Figures[]} turns
   */
  add(run, turns) {
    let result = this.#find(run.contender, run.case);
    if (result === undefined) {
      result = { contender: run.contender, case: run.case, rounds: [] };
      this.#results.push(result);
    }
    const names = Object.keys(turns[0] ?? {});
    result.rounds.push(Object.fromEntries(names.map((name) => [name, turns.map((turn) => turn[name] ?? NaN)])));
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
   * A contender's figure ÷ that of another in the same case, each turn by itself: what slows both down cancels out.
   *
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @returns {Spread | undefined}
   */
  ratio(contender, baseline, caseName, figure) {
    return mapped(this.#ratios(contender, baseline, caseName, figure), spreadOf);
  }

  /**
   * The quartiles of that ratio over all turns.
   *
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @returns {Quartiles | undefined}
   */
  ratioQuartiles(contender, baseline, caseName, figure) {
    return mapped(this.#ratios(contender, baseline, caseName, figure), (rounds) => quartilesOf(rounds.flat()));
  }

  /**
   * A contender's figure less that of another in the same case, each turn by itself.
   *
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   * @returns {Spread | undefined}
   */
  difference(contender, baseline, caseName, figure) {
    return mapped(
      this.#compared(contender, baseline, caseName, figure, (own, other) => own - other),
      spreadOf,
    );
  }

  /**
   * @param {string} contender
   * @param {string} baseline
   * @param {string} caseName
   * @param {string} figure
   */
  #ratios(contender, baseline, caseName, figure) {
    // Nothing is as much as nothing.
    return this.#compared(contender, baseline, caseName, figure, (own, other) => (own === other ? 1 : own / other));
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
    return own.map((turns, round) => turns.map((value, turn) => compare(value, other[round]?.[turn] ?? NaN)));
  }

  /**
   * @param {string} contender
   * @param {string} caseName
   * @param {string} figure
   * @returns {(readonly number[])[] | undefined}
   */
  #rounds(contender, caseName, figure) {
    const rounds = this.#find(contender, caseName)?.rounds.map((round) => round[figure]);
    return rounds?.every((turns) => turns !== undefined) === true ? rounds : undefined;
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
 * @template T, U
 * @param {T | undefined} value
 * @param {(value: T) => U} change
 */
function mapped(value, change) {
  return value === undefined ? undefined : change(value);
}
