import { isCondition, not, sumsIn, type Condition, type Truth } from './condition.ts';
import { factsOf } from './facts.ts';
import { isTrueFor, type Model } from './model.ts';
import { conditionText, declared, symbol } from './smt.ts';
import { beginSession, solve, type Solution } from './solver.ts';
import { Sum } from './sum.ts';
import type { Range, Unknown } from './unknown.ts';

/** Ends a path whose conditions exclude each other. */
export class PathEnd extends Error {}

/** A decision on a path: of a condition, or one of several given values. `isForced` if there was no other. */
interface Choice {
  readonly value: number;
  readonly isForced: boolean;
}

/**
 * One way through code that runs on unknowns: which of its conditions are true. A condition that the earlier ones do not
 * decide is tried both ways, on two paths.
 */
export class Path {
  /** What is true on this path. */
  readonly conditions: Condition[] = [];
  /** What is always true of the unknowns that the engine has introduced. */
  readonly definitions: Condition[] = [];
  readonly inputs: Unknown[] = [];
  readonly choices: Choice[] = [];
  /** The beginnings of the paths that have turned off from this one. */
  readonly others: (readonly Choice[])[] = [];
  /** How many sums were rounded, because they can exceed 2^53. */
  roundings = 0;
  hasEnded = false;
  readonly isRounding: boolean;
  readonly #given: readonly Choice[];
  readonly #known = new Map<string, boolean>();
  readonly #introduced = new Map<string, Sum>();
  /** Values for which everything on this path is true: what is true of one of them needs no question. */
  #models: Model[] = [];
  /** What the solver has been told. */
  readonly #asserted = new Set<string>();

  /** @param isRounding - Whether numbers are doubles. */
  constructor(given: readonly Choice[] = [], isRounding = true) {
    this.#given = given;
    this.isRounding = isRounding;
  }

  input(name: string, isWhole: boolean, { min, max }: Range): Sum {
    const unknown = { name, isWhole, min, max };
    if (this.inputs.some((input) => input.name === name)) throw new Error(`Two unknowns have the name ${name}`);
    this.inputs.push(unknown);
    return Sum.of(unknown);
  }

  /** An unknown of the engine: the same one for the same key. */
  introduced(key: string, range: Range, define: (unknown: Sum) => readonly Truth[], isWhole = true): Sum {
    const known = this.#introduced.get(key);
    if (known !== undefined) return known;
    const sum = Sum.of({ name: `${key.slice(0, key.indexOf(' '))}${this.#introduced.size}`, isWhole, ...range });
    this.#introduced.set(key, sum);
    for (const truth of define(sum)) this.define(truth);
    return sum;
  }

  define(truth: Truth): void {
    this.#models = [];
    if (isCondition(truth)) this.definitions.push(truth);
    else if (!truth) throw new Error('A definition is false');
  }

  /** One of several values, each on a path of its own. */
  choose(count: number): number {
    const given = this.#given[this.choices.length];
    if (given !== undefined) return this.#take(given);
    for (let value = 1; value < count; value++) this.others.push([...this.choices, { value, isForced: false }]);
    return this.#take({ value: 0, isForced: count === 1 });
  }

  /** Whether a condition is true on this path. */
  decide(truth: Truth): boolean {
    if (!isCondition(truth)) return truth;
    const known = this.#known.get(truth.key);
    if (known !== undefined) return known;
    const given = this.#given[this.choices.length];
    if (given !== undefined) return this.#decided(truth, given);
    const canBeTrue = this.canBe(truth);
    const canBeFalse = !canBeTrue || this.canBe(not(truth));
    if (!canBeTrue && !this.canBe(not(truth))) this.end();
    if (canBeTrue && canBeFalse) this.others.push([...this.choices, { value: 0, isForced: false }]);
    return this.#decided(truth, { value: canBeTrue ? 1 : 0, isForced: !canBeTrue || !canBeFalse });
  }

  /**
   * Whether it has not yet turned off from the path on which its beginning was found. Until then all is as it was there:
   * what that path has assumed is possible, and what it has proved is true.
   */
  get isRepeating(): boolean {
    return this.choices.length < this.#given.length;
  }

  /** Ends the path if a condition can't be true on it. */
  assume(truth: Truth): void {
    if (truth === false || !(this.isRepeating || this.canBe(truth))) this.end();
    this.#learn(truth, true);
  }

  end(): never {
    this.hasEnded = true;
    throw new PathEnd('The conditions of this path exclude each other');
  }

  /** Whether a condition may be true on this path: even if the solver can't tell. */
  canBe(truth: Truth): boolean {
    if (!isCondition(truth)) return truth;
    if (this.#models.some((model) => isTrueFor(truth, model) === true)) return true;
    const names = this.#unknownsWith(truth);
    const { verdict, values } = this.#ask(truth, names);
    if (verdict === 'sat') this.#models.push(new Map(names.map((name, i) => [name, values[i]!])));
    return verdict !== 'unsat';
  }

  /** Asks whether something is possible on this path. */
  solve(also: Truth, names: readonly string[] = [], more = '', resources?: number): Solution {
    if (also === false) return { verdict: 'unsat', values: [] };
    return this.#ask(also, names, more, resources);
  }

  #ask(also: Truth, names: readonly string[], more = '', resources?: number): Solution {
    if (asking !== this) {
      beginSession();
      // Only compared: paths have one solver.
      // oxlint-disable-next-line typescript/no-this-alias
      asking = this;
      this.#asserted.clear();
    }
    const lasting = this.#newTexts([...this.definitions, ...this.conditions]);
    for (const text of lasting) this.#asserted.add(text);
    const passing = this.#newTexts([...this.definitions, ...this.conditions, ...(isCondition(also) ? [also] : [])]);
    return solve(lasting.join('\n'), passing.join('\n') + more, names.map(symbol), resources);
  }

  /** What has to be said to the solver of some conditions, and was not said yet. */
  #newTexts(conditions: readonly Condition[]): readonly string[] {
    const { unknowns, facts } = factsOf(conditions.flatMap(sumsIn), this.inputs);
    const asserted = [...conditions.map(conditionText), ...facts].map((text) => `(assert ${text})`);
    return [...new Set([...unknowns.map(declared), ...asserted])].filter((text) => !this.#asserted.has(text));
  }

  #unknownsWith(also: Condition): readonly string[] {
    const sums = [...this.definitions, ...this.conditions, also].flatMap(sumsIn);
    return factsOf(sums, this.inputs).unknowns.map(({ name }) => name);
  }

  #take(choice: Choice): number {
    this.choices.push(choice);
    return choice.value;
  }

  #decided(truth: Condition, choice: Choice): boolean {
    const value = this.#take(choice) === 1;
    this.#learn(value ? truth : not(truth), true);
    this.#known.set(truth.key, value);
    return value;
  }

  #learn(truth: Truth, value: boolean): void {
    if (!isCondition(truth)) return;
    this.conditions.push(truth);
    this.#models = this.#models.filter((model) => isTrueFor(truth, model) === true);
    this.#known.set(truth.key, value);
    const opposite = not(truth);
    if (isCondition(opposite)) this.#known.set(opposite.key, !value);
    if (truth.kind === 'all') for (const part of truth.parts) this.#known.set(part.key, value);
  }
}

export type { Choice };

/** The path about which the solver is being asked. */
let asking: Path | undefined;

/** The path that is being executed; undefined while numbers are plain. */
let current: Path | undefined;

export function path(): Path {
  if (current === undefined) throw new Error('An unknown number outside of a path');
  return current;
}

/** Executes something on a path. @returns False if the path ended because it is impossible. */
export function onPath(given: Path, run: () => void): boolean {
  current = given;
  try {
    run();
    return !given.hasEnded;
  } catch (error) {
    if (given.hasEnded) return false;
    throw error;
  } finally {
    current = undefined;
  }
}
