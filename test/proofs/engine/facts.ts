import { numeral, symbol } from './smt.ts';
import { keyOf, rangeOf, type Sum } from './sum.ts';
import type { Unknown } from './unknown.ts';

interface Product {
  readonly key: string;
  readonly factors: readonly Unknown[];
}

/**
 * The unknowns of some sums, and what is true of the products among them. The solver sees each product as an unknown of its
 * own: it is told the sign and the range of it, and which of two products with a common factor is larger.
 */
export function factsOf(
  sums: readonly Sum[],
  inputs: readonly Unknown[],
): { readonly unknowns: readonly Unknown[]; readonly facts: readonly string[] } {
  const unknowns = new Map(inputs.map((input) => [input.name, input]));
  const products = new Map<string, Product>();
  for (const sum of sums) for (const { factors } of sum.terms.values()) note(factors, unknowns, products);
  const all = [...products.values()];
  const facts = [
    ...all.flatMap(boundsOf),
    ...all.flatMap(signsOf),
    ...all.flatMap((one, i) => all.slice(i + 1).flatMap((two) => order(one, two))),
  ];
  return { unknowns: [...unknowns.values()], facts };
}

/** Notes a product, and the shorter products that its facts mention. */
function note(factors: readonly Unknown[], unknowns: Map<string, Unknown>, products: Map<string, Product>): void {
  const key = keyOf(factors);
  if (factors.length === 1) {
    unknowns.set(key, factors[0]!);
    return;
  }
  if (products.has(key)) return;
  products.set(key, { key, factors });
  unknowns.set(key, { name: key, isWhole: factors.every(({ isWhole }) => isWhole), ...rangeOf(factors) });
  for (const [i] of factors.entries()) note(factors.toSpliced(i, 1), unknowns, products);
  for (const factor of factors) note([factor], unknowns, products);
}

/** (x − least x) × (r − least r) ≥ 0, and so on for the greatest ones. */
function boundsOf({ key, factors }: Product): readonly string[] {
  return factors.flatMap((x, i) => {
    const rest = factors.toSpliced(i, 1);
    const [one, other] = [symbol(x.name), symbol(keyOf(rest))];
    const r = rangeOf(rest);
    const facts: string[] = [];
    const add = (a: bigint | undefined, b: bigint | undefined, relation: '>=' | '<='): void => {
      if (a === undefined || b === undefined) return;
      facts.push(
        `(${relation} (+ ${symbol(key)} ${numeral(a * b)}) (+ (* ${numeral(b)} ${one}) (* ${numeral(a)} ${other})))`,
      );
    };
    add(x.min, r.min, '>=');
    add(x.max, r.max, '>=');
    add(x.min, r.max, '<=');
    add(x.max, r.min, '<=');
    return facts;
  });
}

/** The sign of x × r with r ≥ 0, where it is not known from the range of x. */
function signsOf({ key, factors }: Product): readonly string[] {
  return factors.flatMap((x, i) => {
    const rest = factors.toSpliced(i, 1);
    const { min } = rangeOf(rest);
    if (min === undefined || min < 0n || (x.min !== undefined && x.min >= 0n)) return [];
    const [one, other, product] = [symbol(x.name), symbol(keyOf(rest)), symbol(key)];
    const whole = x.isWhole ? [`(=> (<= ${one} (- 1)) (<= ${product} (- ${other})))`] : [];
    return [...whole, `(=> (>= ${one} 0) (>= ${product} 0))`, `(=> (<= ${one} 0) (<= ${product} 0))`];
  });
}

/** If r ≥ 0 and x > y, then x × r ≥ y × r, for whole factors by at least r. */
function order(one: Product, other: Product): readonly string[] {
  for (const [i, x] of one.factors.entries()) {
    const rest = one.factors.toSpliced(i, 1);
    const restKey = keyOf(rest);
    for (const [j, y] of other.factors.entries()) {
      if (x.name === y.name || keyOf(other.factors.toSpliced(j, 1)) !== restKey) continue;
      const { min } = rangeOf(rest);
      if (min === undefined || min < 0n) return [];
      const isWhole = x.isWhole && y.isWhole;
      const [a, b] = [symbol(one.key), symbol(other.key)];
      return [larger([x, a], [y, b], restKey, isWhole), larger([y, b], [x, a], restKey, isWhole)];
    }
  }
  return [];
}

function larger(
  [x, a]: readonly [Unknown, string],
  [y, b]: readonly [Unknown, string],
  rest: string,
  isWhole: boolean,
): string {
  const [one, other] = [symbol(x.name), symbol(y.name)];
  const least = `(=> (>= ${one} ${other}) (>= ${a} ${b}))`;
  return isWhole ? `(and ${least} (=> (> ${one} ${other}) (>= ${a} (+ ${b} ${symbol(rest)}))))` : least;
}
