import { anyOf, isCondition, not, sumsIn, type Condition, type Truth } from './condition.ts';
import { factsOf } from './facts.ts';
import { isTrueFor, type Model } from './model.ts';
import { conditionText, declared, symbol } from './smt.ts';
import { beginSession, solve, type Solution } from './solver.ts';
import { Sum } from './sum.ts';
import { Refuted } from './theorem.ts';
import type { Range, Unknown } from './unknown.ts';

/** Ends a path whose conditions exclude each other. */
export class PathEnd extends Error {}

/** A decision on a path: of a condition, or one of several given values. `isForced` if there was no other. */
interface Choice {
  readonly value: number;
  readonly isForced: boolean;
}

/** The beginning of a path that has turned off from another one. */
interface Beginning {
  readonly choices: readonly Choice[];
  /** Values for which everything on it is true, as far as some are known. */
  readonly models: readonly Model[];
}

/** What a theorem claims of a path. */
interface Claim {
  readonly words: string;
  readonly truth: Truth;
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
  readonly others: Beginning[] = [];
  /** How many sums were rounded, because they can exceed 2^53. */
  roundings = 0;
  hasEnded = false;
  readonly isRounding: boolean;
  readonly #given: Beginning;
  readonly #known = new Map<string, boolean>();
  readonly #introduced = new Map<string, Sum>();
  /** Values for which everything on this path is true: what is true of one of them needs no question. */
  #models: Model[] = [];
  /** What is claimed and not yet proved. */
  #claims: Claim[] = [];
  /** What the solver has been told. */
  readonly #asserted = new Set<string>();

  /** @param isRounding - Whether numbers are doubles. */
  constructor(given: Beginning = { choices: [], models: [] }, isRounding = true) {
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
    const given = this.#given.choices[this.choices.length];
    if (given !== undefined) return this.#take(given);
    this.prove();
    for (let value = 1; value < count; value++) this.#turnOff(value, []);
    return this.#take({ value: 0, isForced: count === 1 });
  }

  /** Whether a condition is true on this path. */
  decide(truth: Truth): boolean {
    if (!isCondition(truth)) return truth;
    const known = this.#known.get(truth.key);
    if (known !== undefined) return known;
    const given = this.#given.choices[this.choices.length];
    if (given !== undefined) return this.#repeated(truth, given);
    this.prove();
    const canBeTrue = this.canBe(truth);
    const canBeFalse = !canBeTrue || this.canBe(not(truth));
    if (!canBeTrue && !this.canBe(not(truth))) this.end();
    if (canBeTrue && canBeFalse) this.#turnOff(0, this.#modelsOf(not(truth)));
    return this.#decided(truth, { value: canBeTrue ? 1 : 0, isForced: !canBeTrue || !canBeFalse });
  }

  /**
   * Whether it has not yet turned off from the path on which its beginning was found. Until then all is as it was there:
   * what that path has assumed is possible, and what it has proved is true.
   */
  get isRepeating(): boolean {
    return this.choices.length < this.#given.choices.length;
  }

  /** Ends the path if a condition can't be true on it. */
  assume(truth: Truth): void {
    if (!this.isRepeating) this.prove();
    if (truth === false || !(this.isRepeating || this.canBe(truth))) this.end();
    this.#learn(truth, true);
  }

  /** Notes a claim, which is proved before the path turns off from another one, and at its end. */
  claim(words: string, truth: Truth): void {
    if (truth === true) return;
    if (this.isRepeating) this.#learn(truth, true);
    else this.#claims.push({ words, truth });
  }

  /** Proves what was claimed: with one question, where it is true. What is proved is true from here on. */
  prove(): void {
    const claims = this.#claims;
    if (claims.length === 0) return;
    this.#claims = [];
    const areTrue = claims.length > 1 && this.#isImpossible(anyOf(claims.map(({ truth }) => not(truth))));
    for (const { words, truth } of claims) {
      const opposite = not(truth);
      const { verdict } = areTrue ? { verdict: 'unsat' as const } : this.solve(opposite);
      if (verdict !== 'unsat') throw new Refuted(words, opposite, verdict);
      this.#learn(truth, true);
    }
  }

  #isImpossible(truth: Truth): boolean {
    return this.solve(truth).verdict === 'unsat';
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

  #modelsOf(truth: Truth): Model[] {
    return this.#models.filter((model) => (isCondition(truth) ? isTrueFor(truth, model) === true : truth));
  }

  /** Notes the beginning of another path, which makes another choice here. */
  #turnOff(value: number, models: readonly Model[]): void {
    this.others.push({ choices: [...this.choices, { value, isForced: false }], models });
  }

  /** Decides as on the path on which the beginning was found. At its end everything is as it was there. */
  #repeated(truth: Condition, choice: Choice): boolean {
    const value = this.#decided(truth, choice);
    if (!this.isRepeating) this.#models = [...this.#given.models];
    return value;
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
    this.#models = this.#modelsOf(truth);
    this.#known.set(truth.key, value);
    const opposite = not(truth);
    if (isCondition(opposite)) this.#known.set(opposite.key, !value);
    if (truth.kind === 'all') for (const part of truth.parts) this.#known.set(part.key, value);
  }
}

export type { Beginning };

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
