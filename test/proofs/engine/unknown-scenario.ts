import { isSymbolic } from './arithmetic.ts';
import { allOf, anyOf, compared, isCondition, not, type Truth } from './condition.ts';
import { multiplied, subtracted } from './arithmetic.ts';
import type { Evidence } from './evidence.ts';
import { takeSuppositions } from './logic.ts';
import type { Path } from './path.ts';
import { Sum } from './sum.ts';
import type { Bounds, Scenario } from './theorem.ts';

/** Runs a theorem with unknowns, on one path. */
export class UnknownScenario implements Scenario {
  readonly #path: Path;
  /** The values that were chosen, by name. */
  readonly choices = new Map<string, number>();
  /** The same in words. */
  readonly told: string[] = [];
  claims = 0;

  readonly #evidence: Evidence;

  constructor(path: Path, evidence: Evidence) {
    this.#path = path;
    this.#evidence = evidence;
  }

  int(name: string, bounds: Bounds): number {
    return this.#input(name, true, bounds);
  }

  real(name: string, bounds: Bounds): number {
    return this.#input(name, false, bounds);
  }

  choice<T>(name: string, values: readonly T[]): T {
    const chosen = this.#path.choose(values.length);
    this.choices.set(name, chosen);
    const value = values[chosen]!;
    this.told.push(`${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
    return value;
  }

  assume(condition: boolean): void {
    this.#path.assume(truthOf(condition));
  }

  claim(words: string, condition: boolean): void {
    const truth = truthOf(condition);
    this.claims++;
    const suppositions = takeSuppositions();
    if (!this.#path.isRepeating) {
      this.#evidence.claimed(words, suppositions, truth, { path: this.#path, choices: this.choices });
    }
    this.#path.claim(words, truth);
  }

  tell(): void {}

  product(x: number, y: number): void {
    const [a, b] = [asSum(x), asSum(y)];
    const whole = asSum(multiplied(a, b));
    for (const [one, other, sign] of SIGNS) {
      const product = whole.times(Sum.whole(sign));
      const [p, q] = [a.times(Sum.whole(one)), b.times(Sum.whole(other))];
      this.#path.define(implied([isAtLeast(p, 0n), isAtLeast(q, 0n)], isAtLeast(product, 0n)));
      if (!a.isWhole || !b.isWhole) continue;
      this.#path.define(implied([isAtLeast(p, 1n), isAtLeast(q, 0n)], isAtLeast(asSum(subtracted(product, q)), 0n)));
      this.#path.define(implied([isAtLeast(p, 0n), isAtLeast(q, 1n)], isAtLeast(asSum(subtracted(product, p)), 0n)));
    }
  }

  #input(name: string, isWhole: boolean, { min, max }: Bounds): number {
    const range = { min: BigInt(Math.floor(min)), max: BigInt(Math.ceil(max)) };
    return this.#path.input(name, isWhole, range) as unknown as number;
  }
}

const SIGNS = [
  [1n, 1n, 1n],
  [-1n, 1n, -1n],
  [1n, -1n, -1n],
  [-1n, -1n, 1n],
] as const;

function implied(conditions: readonly Truth[], result: Truth): Truth {
  return anyOf([not(allOf(conditions)), result]);
}

function isAtLeast(sum: Sum, least: bigint): Truth {
  return compared(Sum.whole(least).minus(sum).numerator, '<=');
}

function truthOf(condition: unknown): Truth {
  if (typeof condition === 'boolean' || isCondition(condition)) return condition;
  throw new TypeError(`${String(condition)} is not a condition`);
}

function asSum(value: unknown): Sum {
  if (typeof value === 'number') return Sum.from(value);
  if (isSymbolic(value) && value instanceof Sum) return value;
  throw new TypeError(`${String(value)} is not a sum`);
}
