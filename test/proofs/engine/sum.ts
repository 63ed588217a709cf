import { plus, scaled, times, type Range, type Unknown } from './unknown.ts';

/** A product of unknowns and its coefficient. */
interface Term {
  /** In the order of their names; one for a linear term. */
  readonly factors: readonly Unknown[];
  readonly coefficient: bigint;
}

/**
 * A sum of products of unknowns, exact: (Σ coefficient × product + constant) / denominator. Always in one form, so that
 * two ways to compute a number meet: conditions of TypeScript and of Lua become the same text.
 */
export class Sum {
  /** By the names of their factors. */
  readonly terms: ReadonlyMap<string, Term>;
  readonly constant: bigint;
  /** Above 0. */
  readonly denominator: bigint;

  private constructor(terms: ReadonlyMap<string, Term>, constant: bigint, denominator: bigint) {
    this.terms = terms;
    this.constant = constant;
    this.denominator = denominator;
  }

  static of(unknown: Unknown): Sum {
    return new Sum(new Map([[unknown.name, { factors: [unknown], coefficient: 1n }]]), 0n, 1n);
  }

  /** Converts a double, which must be finite, without loss. */
  static from(value: number): Sum {
    let [numerator, denominator] = [value, 1];
    while (!Number.isInteger(numerator)) [numerator, denominator] = [numerator * 2, denominator * 2];
    return reduced(new Map(), BigInt(numerator), BigInt(denominator));
  }

  static whole(value: bigint): Sum {
    return new Sum(new Map(), value, 1n);
  }

  get isConstant(): boolean {
    return this.terms.size === 0;
  }

  /** Whether it is a whole number for all whole values of its unknowns. */
  get isWhole(): boolean {
    return this.denominator === 1n && this.hasWholeUnknowns;
  }

  get hasWholeUnknowns(): boolean {
    return [...this.terms.values()].every(({ factors }) => factors.every(({ isWhole }) => isWhole));
  }

  static sumOf(parts: readonly Term[]): Sum {
    const terms = new Map<string, Term>();
    for (const { factors, coefficient } of parts) add(terms, keyOf(factors), factors, coefficient);
    const constant = terms.get('')?.coefficient ?? 0n;
    terms.delete('');
    return new Sum(terms, constant, 1n);
  }

  /** As a double, if it is a constant. */
  get value(): number {
    return Number(this.constant) / Number(this.denominator);
  }

  plus(other: Sum): Sum {
    const denominator = this.denominator * other.denominator;
    const terms = new Map<string, Term>();
    for (const [sum, factor] of [
      [this, other.denominator],
      [other, this.denominator],
    ] as const) {
      for (const [key, { factors, coefficient }] of sum.terms) add(terms, key, factors, coefficient * factor);
    }
    return reduced(terms, this.constant * other.denominator + other.constant * this.denominator, denominator);
  }

  minus(other: Sum): Sum {
    return this.plus(other.times(Sum.whole(-1n)));
  }

  times(other: Sum): Sum {
    const terms = new Map<string, Term>();
    for (const one of partsOf(this)) {
      for (const two of partsOf(other)) {
        const factors = [...one.factors, ...two.factors].toSorted(byName);
        add(terms, keyOf(factors), factors, one.coefficient * two.coefficient);
      }
    }
    const constant = terms.get('')?.coefficient ?? 0n;
    terms.delete('');
    return reduced(terms, constant, this.denominator * other.denominator);
  }

  /** Divided by a constant other than 0. */
  over(divisor: Sum): Sum {
    const sign = divisor.constant < 0n ? -1n : 1n;
    return this.times(Sum.reciprocal(divisor.denominator * sign, divisor.constant * sign));
  }

  private static reciprocal(numerator: bigint, denominator: bigint): Sum {
    return reduced(new Map(), numerator, denominator);
  }

  /** The same without its denominator. */
  get numerator(): Sum {
    return new Sum(this.terms, this.constant, 1n);
  }

  /** The range of the numerator. */
  get range(): Range {
    let range: Range = { min: this.constant, max: this.constant };
    for (const { factors, coefficient } of this.terms.values())
      range = plus(range, scaled(rangeOf(factors), coefficient));
    return range;
  }

  /** The text of the terms without the constant: sums that differ by a constant have the same one. */
  get termsKey(): string {
    return [...this.terms]
      .map(([key, { coefficient }]) => `${coefficient}${key}`)
      .toSorted()
      .join('+');
  }

  toString(): string {
    const terms = [...this.terms.values()].map(({ factors, coefficient }) => {
      const product = factors.map(({ name }) => name).join('×');
      return coefficient === 1n ? product : `${coefficient}×${product}`;
    });
    const parts = this.constant === 0n && terms.length > 0 ? terms : [...terms, String(this.constant)];
    const whole = parts.join(' + ');
    return this.denominator === 1n ? whole : `(${whole}) / ${this.denominator}`;
  }

  /** No operator of JavaScript may see it: the source was not rewritten there. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return this.toString();
    throw new Error(`An operator that is not rewritten has got ${this.toString()}`);
  }

  static make(terms: ReadonlyMap<string, Term>, constant: bigint, denominator: bigint): Sum {
    return new Sum(terms, constant, denominator);
  }
}

/** The range of a product. */
export function rangeOf(factors: readonly Unknown[]): Range {
  return factors.length === 1 ? factors[0]! : factors.reduce<Range>(times, { min: 1n, max: 1n });
}

/** The name of a product of unknowns. */
export function keyOf(factors: readonly Unknown[]): string {
  return factors.map(({ name }) => name).join('*');
}

export type { Term };

function partsOf(sum: Sum): Term[] {
  const terms = [...sum.terms.values()];
  return sum.constant === 0n ? terms : [...terms, { factors: [], coefficient: sum.constant }];
}

function byName(one: Unknown, other: Unknown): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

function add(terms: Map<string, Term>, key: string, factors: readonly Unknown[], coefficient: bigint): void {
  const sum = coefficient + (terms.get(key)?.coefficient ?? 0n);
  if (sum === 0n) terms.delete(key);
  else terms.set(key, { factors, coefficient: sum });
}

function reduced(terms: Map<string, Term>, constant: bigint, denominator: bigint): Sum {
  if (denominator === 1n) return Sum.make(terms, constant, 1n);
  let divisor = gcd(denominator, constant);
  for (const { coefficient } of terms.values()) divisor = gcd(divisor, coefficient);
  const divided = [...terms].map(([key, { factors, coefficient }]): [string, Term] => {
    return [key, { factors, coefficient: coefficient / divisor }];
  });
  return Sum.make(new Map(divided), constant / divisor, denominator / divisor);
}

/** The greatest common divisor, at least 0. */
export function gcd(one: bigint, other: bigint): bigint {
  let [a, b] = [one < 0n ? -one : one, other < 0n ? -other : other];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}
