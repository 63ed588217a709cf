/**
 * What the operators of rewritten sources do. On plain values they are those of JavaScript.
 *
 * @module
 */
import {
  added,
  dividedBy,
  isEqual,
  isLess,
  isSymbolic,
  multiplied,
  negated,
  remainder,
  subtracted,
} from './arithmetic.ts';
import { allOf, anyOf, isCondition, not as opposite, type Truth } from './condition.ts';
import { path } from './path.ts';
import { resultAt, type Site } from './sabotage.ts';

type Any = never;

export function add(a: Any, b: Any, site?: Site): unknown {
  if (typeof a === 'string' || typeof b === 'string') return `${String(a)}${String(b)}`;
  return isSymbolic(a) || isSymbolic(b) ? added(a, b) : resultAt(a + b, site);
}

export function sub(a: Any, b: Any, site?: Site): unknown {
  return isSymbolic(a) || isSymbolic(b) ? subtracted(a, b) : resultAt(a - b, site);
}

export function mul(a: Any, b: Any, site?: Site): unknown {
  return isSymbolic(a) || isSymbolic(b) ? multiplied(a, b) : resultAt(a * b, site);
}

export function div(a: Any, b: Any, site?: Site): unknown {
  return isSymbolic(a) || isSymbolic(b) ? dividedBy(a, b) : resultAt(a / b, site);
}

export function mod(a: Any, b: Any, site?: Site): unknown {
  return isSymbolic(a) || isSymbolic(b) ? remainder(a, b) : resultAt(a % b, site);
}

export function neg(a: Any): unknown {
  return isSymbolic(a) ? negated(a) : -a;
}

export function num(a: Any): unknown {
  return isSymbolic(a) ? a : +a;
}

export function lt(a: Any, b: Any, site?: Site): Truth {
  return isSymbolic(a) || isSymbolic(b) ? isLess(a, b, '<') : resultAt(a < b, site);
}

export function le(a: Any, b: Any, site?: Site): Truth {
  return isSymbolic(a) || isSymbolic(b) ? isLess(a, b, '<=') : resultAt(a <= b, site);
}

export function gt(a: Any, b: Any, site?: Site): Truth {
  return isSymbolic(a) || isSymbolic(b) ? isLess(b, a, '<') : resultAt(a > b, site);
}

export function ge(a: Any, b: Any, site?: Site): Truth {
  return isSymbolic(a) || isSymbolic(b) ? isLess(b, a, '<=') : resultAt(a >= b, site);
}

export function eq(a: Any, b: Any, site?: Site): Truth {
  if (isSymbolic(a) || isSymbolic(b)) return isEqual(a, b);
  return isCondition(a) || isCondition(b) ? same(a, b) : resultAt(a === b, site);
}

export function ne(a: Any, b: Any, site?: Site): Truth {
  return opposite(eq(a, b, site));
}

export function not(a: Any): Truth {
  return isCondition(a) ? opposite(a) : !truthy(a);
}

/** Whether a condition of `if`, `?:`, `while` or `for` is true. */
export function truthy(a: unknown, site?: Site): boolean {
  if (isCondition(a)) return path().decide(a);
  // A number is false when it is 0.
  return isSymbolic(a) ? path().decide(ne(a as Any, 0 as Any)) : resultAt(Boolean(a), site);
}

export function typeOf(a: unknown): string {
  if (isSymbolic(a)) return 'number';
  return isCondition(a) ? 'boolean' : typeof a;
}

/** The result of a function of Math. */
export function result<T>(value: T, site: Site): T {
  return resultAt(value, site);
}

/** The value of a `switch`. */
export function known<T>(a: T): T {
  if (isSymbolic(a) || isCondition(a)) throw new Error('A switch of an unknown value');
  return a;
}

function same(a: unknown, b: unknown): Truth {
  if (typeof a !== 'boolean' && !isCondition(a)) return false;
  if (typeof b !== 'boolean' && !isCondition(b)) return false;
  return anyOf([allOf([a, b]), allOf([opposite(a), opposite(b)])]);
}

/** The text of an unknown number after a plus: arguments of scripts are such texts. */
export class PlusText {
  readonly number: unknown;

  constructor(number: unknown) {
    this.number = number;
  }

  toString(): string {
    return `+${String(this.number)}`;
  }
}

/** A template. */
export function text(texts: readonly string[], ...values: readonly unknown[]): unknown {
  const [value] = values;
  if (values.length === 1 && texts[0] === '+' && texts[1] === '' && isSymbolic(value)) return new PlusText(value);
  return texts.map((part, i) => (i < values.length ? `${part}${String(values[i])}` : part)).join('');
}

const operands: unknown[] = [];

/** Keeps the left side of `&&` and `||`, which is asked for its truth and may be the result. */
export function hold<T>(value: T): T {
  operands.push(value);
  return value;
}

export function held(): unknown {
  return operands.pop();
}

/** Call it before a path: the last one may have ended amid an expression. */
export function beginExpressions(): void {
  operands.length = 0;
}
