import { compared, type Truth } from './condition.ts';
import { path } from './path.ts';
import { Sum, type Term } from './sum.ts';
import type { Range } from './unknown.ts';

/** A quotient of two sums. The divisor is not a constant, and above 0 on its path. */
export class Quotient {
  readonly dividend: Sum;
  readonly divisor: Sum;

  constructor(dividend: Sum, divisor: Sum) {
    this.dividend = dividend;
    this.divisor = divisor;
  }

  [Symbol.toPrimitive](hint: string): string {
    const text = `(${this.dividend.toString()}) / (${this.divisor.toString()})`;
    if (hint === 'string') return text;
    throw new Error(`An operator that is not rewritten has got ${text}`);
  }
}

/** Divides two sums. */
export function divided(dividend: Sum, divisor: Sum): Sum | Quotient {
  if (divisor.isConstant) {
    if (divisor.constant === 0n) throw new Error(`${dividend.toString()} is divided by 0`);
    return dividend.over(divisor);
  }
  if (!path().decide(compared(divisor.times(Sum.whole(-1n)).numerator, '<'))) {
    throw new Error(`${dividend.toString()} is divided by ${divisor.toString()}, which may be 0 or less`);
  }
  return exactQuotient(dividend, divisor) ?? new Quotient(dividend, divisor);
}

/** The quotient if each term of the dividend contains the only term of the divisor. */
function exactQuotient(dividend: Sum, divisor: Sum): Sum | undefined {
  if (divisor.terms.size !== 1 || divisor.constant !== 0n || dividend.constant !== 0n) return undefined;
  const [{ factors, coefficient }] = [...divisor.terms.values()] as [Term];
  let quotient = Sum.whole(0n);
  for (const term of dividend.terms.values()) {
    const left = [...term.factors];
    for (const factor of factors) {
      const at = left.findIndex(({ name }) => name === factor.name);
      if (at < 0) return undefined;
      left.splice(at, 1);
    }
    quotient = quotient.plus(left.reduce((sum, factor) => sum.times(Sum.of(factor)), Sum.whole(term.coefficient)));
  }
  return quotient.times(Sum.whole(divisor.denominator)).over(Sum.whole(coefficient * dividend.denominator));
}

/**
 * Rounds down. ⌊fl(a / b)⌋ = ⌊a / b⌋ and ⌈fl(a / b)⌉ = ⌈a / b⌉ for whole numbers below 2^53: a quotient that is not whole
 * is at least 1 / b away from a whole number, which is more than the error of the division, a / b × 2^−53. And if it is
 * whole, it is exact. (The one lemma about quotients that is proved by hand.)
 */
export function roundedDown(value: Sum | Quotient): Sum {
  const [dividend, divisor] = partsOf(value);
  if (value instanceof Sum && value.isWhole) return value;
  const name = `floor (${dividend.toString()}) / (${divisor.toString()})`;
  return path().introduced(name, quotientRange(dividend.range, divisor.range), (floor) => {
    const product = floor.times(divisor);
    const least: Truth = compared(product.minus(dividend), '<=');
    const most: Truth = compared(dividend.minus(product).minus(divisor), '<');
    return [least, most];
  });
}

/** Numerator and denominator without fractions in them. */
export function partsOf(value: Sum | Quotient): readonly [dividend: Sum, divisor: Sum] {
  if (value instanceof Sum) return [value.numerator, Sum.whole(value.denominator)];
  const { dividend, divisor } = value;
  return [
    dividend.numerator.times(Sum.whole(divisor.denominator)),
    divisor.numerator.times(Sum.whole(dividend.denominator)),
  ];
}

function quotientRange(dividend: Range, divisor: Range): Range {
  if (dividend.min === undefined || dividend.min < 0n) return { min: undefined, max: undefined };
  const least = divisor.min === undefined || divisor.min < 1n ? 1n : divisor.min;
  return { min: 0n, max: dividend.max === undefined ? undefined : dividend.max / least };
}
