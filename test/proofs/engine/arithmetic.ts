import { compared, type Truth } from './condition.ts';
import { path } from './path.ts';
import { divided, Quotient, roundedDown } from './quotient.ts';
import { Sum } from './sum.ts';

/** A number that is not known, or only on a path. */
export type Symbolic = Sum | Quotient;

export function isSymbolic(value: unknown): value is Symbolic {
  return value instanceof Sum || value instanceof Quotient;
}

/** The largest number below which a double represents all whole numbers. */
const EXACT = 9_007_199_254_740_992n;
/** −1 × a sum. */
const MINUS = Sum.whole(-1n);

/** Adds two numbers, of which one is symbolic. */
export function added(one: unknown, other: unknown): number | Symbolic {
  const infinite = infiniteOf(one, other);
  if (infinite !== undefined) return infinite;
  const [a, b] = [asSymbolic(one), asSymbolic(other)];
  if (a instanceof Sum && b instanceof Sum) return represented(a.plus(b));
  const [p, q] = [partsOf(a), partsOf(b)];
  return divided(p[0].times(q[1]).plus(q[0].times(p[1])), p[1].times(q[1]));
}

export function subtracted(one: unknown, other: unknown): number | Symbolic {
  return added(one, negated(other));
}

export function negated(value: unknown): number | Symbolic {
  if (typeof value === 'number') return -value;
  const symbolic = asSymbolic(value);
  if (symbolic instanceof Sum) return symbolic.times(MINUS);
  return new Quotient(symbolic.dividend.times(MINUS), symbolic.divisor);
}

export function multiplied(one: unknown, other: unknown): number | Symbolic {
  if (one === 0 || other === 0) return 0;
  if (isInfinite(one) || isInfinite(other)) throw new Error('An unknown number is multiplied by Infinity');
  const [a, b] = [asSymbolic(one), asSymbolic(other)];
  if (a instanceof Sum && b instanceof Sum) return represented(a.times(b));
  const [p, q] = [partsOf(a), partsOf(b)];
  return divided(p[0].times(q[0]), p[1].times(q[1]));
}

export function dividedBy(one: unknown, other: unknown): number | Symbolic {
  if (isInfinite(other)) return 0;
  if (isInfinite(one)) throw new Error('Infinity is divided by an unknown number');
  const [p, q] = [partsOf(asSymbolic(one)), partsOf(asSymbolic(other))];
  return divided(p[0].times(q[1]), p[1].times(q[0]));
}

/** The remainder of a number that is not negative. */
export function remainder(one: unknown, other: unknown): number | Symbolic {
  const [a, b] = [asSymbolic(one), asSymbolic(other)];
  if (!(a instanceof Sum && b instanceof Sum)) throw new Error('A remainder of a quotient');
  if (!path().decide(compared(a.times(MINUS), '<='))) throw new Error('A remainder of a negative number');
  return subtracted(a, multiplied(floorOf(divided(a, b)), b));
}

export function floorOf(value: unknown): number | Symbolic {
  return value instanceof Sum || value instanceof Quotient ? plain(roundedDown(value)) : Math.floor(value as number);
}

export function ceilOf(value: unknown): number | Symbolic {
  return isSymbolic(value) ? negated(floorOf(negated(value))) : Math.ceil(value as number);
}

/** `one < other`, or `one <= other`. */
export function isLess(one: unknown, other: unknown, kind: '<' | '<='): Truth {
  if (isUnordered(one) || isUnordered(other)) return false;
  if (typeof one === 'number' && !Number.isFinite(one)) return one < 0;
  if (typeof other === 'number' && !Number.isFinite(other)) return other > 0;
  return compared(difference(one, other), kind);
}

export function isEqual(one: unknown, other: unknown): Truth {
  if (!isNumeric(one) || !isNumeric(other) || isInfinite(one) || isInfinite(other)) return false;
  if (Number.isNaN(one) || Number.isNaN(other)) return false;
  return compared(difference(one, other), '=');
}

/** A number with the sign of the difference of two. */
function difference(one: unknown, other: unknown): Sum {
  const [p, q] = [partsOf(asSymbolic(one)), partsOf(asSymbolic(other))];
  return p[0].times(q[1]).minus(q[0].times(p[1]));
}

/**
 * What a double makes of a whole number: itself up to 2^53. Above that, some number that is at least 2^53, because rounding
 * is monotone, and less than 2 away up to 2^54. What is no whole number is only ever rounded, see `roundedDown`.
 */
function represented(sum: Sum): number | Sum {
  if (sum.isConstant) return sum.value;
  if (!sum.isWhole || !path().isRounding) return sum;
  const { min, max } = sum.range;
  const isBelow = max !== undefined && max <= EXACT;
  const isAbove = min !== undefined && min >= -EXACT;
  if (isBelow && isAbove) return sum;
  if (!isBelow && !path().decide(compared(sum.minus(Sum.whole(EXACT)), '<='))) return rounded(sum);
  if (!isAbove && !path().decide(compared(Sum.whole(-EXACT).minus(sum), '<=')))
    return negated(rounded(sum.times(MINUS))) as Sum;
  return sum;
}

function rounded(sum: Sum): Sum {
  path().roundings++;
  return path().introduced(`rounded ${sum.toString()}`, { min: EXACT, max: undefined }, (result) => {
    const near = (kind: 1n | -1n): Truth =>
      compared(result.minus(sum).times(Sum.whole(kind)).minus(Sum.whole(1n)), '<=');
    return path().decide(compared(sum.minus(Sum.whole(2n * EXACT)), '<='))
      ? [near(1n), near(-1n)]
      : [compared(Sum.whole(2n * EXACT).minus(result), '<=')];
  });
}

/** A constant as a plain number. */
export function plain(value: Symbolic): number | Symbolic {
  return value instanceof Sum && value.isConstant ? value.value : value;
}

function asSymbolic(value: unknown): Symbolic {
  if (typeof value === 'number') return Sum.from(value);
  if (isSymbolic(value)) return value;
  throw new TypeError(`${String(value)} is not a number`);
}

function partsOf(value: Symbolic): readonly [Sum, Sum] {
  return value instanceof Sum ? [value.numerator, Sum.whole(value.denominator)] : [value.dividend, value.divisor];
}

function infiniteOf(one: unknown, other: unknown): number | undefined {
  for (const each of [one, other]) if (typeof each === 'number' && !Number.isFinite(each)) return each;
  return undefined;
}

function isInfinite(value: unknown): boolean {
  return value === Infinity || value === -Infinity;
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || isSymbolic(value);
}

function isUnordered(value: unknown): boolean {
  return value === undefined || Number.isNaN(value);
}
