import { add, div, mod, mul, neg, PlusText, sub } from '../engine/operators.ts';

type Any = never;

const OPERATIONS: Readonly<Record<string, (a: Any, b: Any) => unknown>> = {
  '+': add,
  '-': sub,
  '*': mul,
  '/': div,
  '%': (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return ((a % b) + b) % b;
    return mod(a, b);
  },
};

/** A term in the written level of a bucket, whose binary exponent is not known. It is compared as a text. */
export class Term {
  readonly text: string;
  /** The level that it comes from. */
  readonly level: unknown;

  constructor(text: string, level: unknown) {
    this.text = text;
    this.level = level;
  }
}

/** An operation of Lua on numbers, or texts of numbers. */
export function calculated(operator: string, left: unknown, right: unknown): unknown {
  const term = left instanceof Term ? left : right;
  if (term instanceof Term) {
    const text = (value: unknown): string => (value instanceof Term ? value.text : String(value));
    if (operator === '+' && right === 0) return left;
    return new Term(`(${text(left)} ${operator} ${text(right)})`, term.level);
  }
  const operation = OPERATIONS[operator];
  if (operation === undefined) throw new Error(`No operator ${operator}`);
  return operation(numberOf(left) as Any, numberOf(right) as Any);
}

export function negative(value: unknown): unknown {
  return neg(numberOf(value) as Any);
}

function numberOf(value: unknown): unknown {
  if (value instanceof PlusText) return value.number;
  if (typeof value !== 'string') {
    if (value === undefined || typeof value === 'boolean') throw new Error(`Arithmetic on ${String(value)}`);
    return value;
  }
  const number = Number(value);
  if (value.trim() === '' || Number.isNaN(number)) throw new Error(`'${value}' is not a number`);
  return number;
}
