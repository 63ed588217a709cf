import { gcd, Sum, type Term } from './sum.ts';

/**
 * A condition on unknowns that is neither true nor false for all of them. Comparisons have one form, `sum ≤ 0`, `sum < 0`
 * or `sum = 0` with coefficients that have no common divisor, so that equal conditions have equal keys.
 */
export type Condition = Comparison | Combination;

interface Comparison {
  readonly kind: '<=' | '<' | '=' | '!=';
  readonly sum: Sum;
  readonly key: string;
}

interface Combination {
  readonly kind: 'all' | 'any';
  readonly parts: readonly Condition[];
  readonly key: string;
}

/** A boolean, or a condition that stands for one. */
export type Truth = boolean | Condition;

const CONDITIONS = new WeakSet<object>();

export function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && CONDITIONS.has(value);
}

/** `sum ≤ 0`, `sum < 0`, `sum = 0`, or its opposite. */
export function compared(sum: Sum, kind: Comparison['kind']): Truth {
  const common = commonFactor(sum);
  if (common !== undefined) return compared(common, kind);
  const whole = sum.hasWholeUnknowns;
  if (whole && kind === '<') return compared(sum.numerator.plus(Sum.whole(1n)), '<=');
  const { terms, constant } = sum;
  if (terms.size === 0) return isTrue(constant, kind);
  const { min, max } = sum.range;
  if (kind === '<=' && max !== undefined && max <= 0n) return true;
  if (kind === '<=' && min !== undefined && min > 0n) return false;
  if (kind === '<' && max !== undefined && max < 0n) return true;
  if (kind === '<' && min !== undefined && min >= 0n) return false;
  if ((min !== undefined && min > 0n) || (max !== undefined && max < 0n)) {
    if (kind === '=' || kind === '!=') return kind === '!=';
  }
  return normal(terms, constant, kind, whole);
}

/** The sum without a factor of all its terms that is above 0: n × T + c × T ≤ b × T is n + c ≤ b. */
function commonFactor({ terms, constant }: Sum): Sum | undefined {
  if (constant !== 0n || terms.size === 0) return undefined;
  const [first, ...others] = [...terms.values()];
  if (first!.factors.length < 2 && others.length === 0) return undefined;
  const common = first!.factors.find(
    ({ name, min }) =>
      min !== undefined && min > 0n && others.every(({ factors }) => factors.some((factor) => factor.name === name)),
  );
  return common && Sum.sumOf([...terms.values()].map((term) => without(term, common.name)));
}

function without({ factors, coefficient }: Term, name: string): Term {
  return {
    factors: factors.toSpliced(
      factors.findIndex((factor) => factor.name === name),
      1,
    ),
    coefficient,
  };
}

function isTrue(constant: bigint, kind: Comparison['kind']): boolean {
  if (kind === '=') return constant === 0n;
  if (kind === '!=') return constant !== 0n;
  return kind === '<' ? constant < 0n : constant <= 0n;
}

function normal(terms: ReadonlyMap<string, Term>, constant: bigint, kind: Comparison['kind'], whole: boolean): Truth {
  let divisor = 0n;
  for (const { coefficient } of terms.values()) divisor = gcd(divisor, coefficient);
  const isEquation = kind === '=' || kind === '!=';
  let rest = constant;
  if (constant % divisor !== 0n) {
    if (!whole) divisor = gcd(divisor, constant);
    else if (isEquation) return kind === '!=';
    // Σ ≤ −constant / divisor, rounded down.
    else rest = constant > 0n ? (constant / divisor + 1n) * divisor : (constant / divisor) * divisor;
  }
  const first = [...terms.keys()].toSorted()[0]!;
  const sign = isEquation && terms.get(first)!.coefficient < 0n ? -1n : 1n;
  const divided = [...terms].map(([key, { factors, coefficient }]): [string, Term] => {
    return [key, { factors, coefficient: (sign * coefficient) / divisor }];
  });
  const sum = Sum.make(new Map(divided), (sign * rest) / divisor, 1n);
  return made({ kind, sum, key: `${sum.termsKey}+${sum.constant}${kind}0` });
}

export function not(truth: Truth): Truth {
  if (typeof truth === 'boolean') return !truth;
  if (truth.kind === 'all') return anyOf(truth.parts.map(not));
  if (truth.kind === 'any') return allOf(truth.parts.map(not));
  const { kind, sum } = truth as Comparison;
  if (kind === '=') return compared(sum, '!=');
  if (kind === '!=') return compared(sum, '=');
  return compared(sum.times(Sum.whole(-1n)), kind === '<=' ? '<' : '<=');
}

export function allOf(parts: readonly Truth[]): Truth {
  return combined('all', parts, false);
}

export function anyOf(parts: readonly Truth[]): Truth {
  return combined('any', parts, true);
}

function combined(kind: Combination['kind'], parts: readonly Truth[], decisive: boolean): Truth {
  if (parts.includes(decisive)) return decisive;
  const left = parts.filter((part): part is Condition => typeof part !== 'boolean');
  if (left.length === 0) return !decisive;
  if (left.length === 1) return left[0]!;
  return made({ kind, parts: left, key: `${kind}(${left.map(({ key }) => key).join(', ')})` });
}

function made<T extends Condition>(condition: T): T {
  CONDITIONS.add(condition);
  return condition;
}

/** All comparisons in a condition. */
export function sumsIn(condition: Condition): readonly Sum[] {
  return 'parts' in condition ? condition.parts.flatMap(sumsIn) : [condition.sum];
}
