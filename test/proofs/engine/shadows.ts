/**
 * What stands in for the globals of rewritten sources.
 *
 * @module
 */
import { ceilOf, floorOf, isSymbolic, type Symbolic } from './arithmetic.ts';
import { isCondition } from './condition.ts';
import { add, ge, le, lt, neg, truthy } from './operators.ts';
import { Sum } from './sum.ts';

const PlainMath = globalThis.Math;
const PlainNumber = globalThis.Number;

type Any = never;

function largest(values: readonly unknown[]): unknown {
  return values.reduce((one, other) => (truthy(ge(one as Any, other as Any)) ? one : other));
}

function smallest(values: readonly unknown[]): unknown {
  return values.reduce((one, other) => (truthy(le(one as Any, other as Any)) ? one : other));
}

export const math: object = Object.assign(Object.create(PlainMath), {
  max: (...values: readonly unknown[]) =>
    values.some(isSymbolic) ? largest(values) : PlainMath.max(...(values as Any[])),
  min: (...values: readonly unknown[]) =>
    values.some(isSymbolic) ? smallest(values) : PlainMath.min(...(values as Any[])),
  floor: floorOf,
  ceil: ceilOf,
  // To the nearest whole number, and up from the middle.
  round: (value: unknown) =>
    isSymbolic(value) ? floorOf(add(value as Any, 0.5 as Any)) : PlainMath.round(value as number),
  trunc: (value: unknown) =>
    isSymbolic(value)
      ? truthy(lt(value as Any, 0 as Any))
        ? ceilOf(value)
        : floorOf(value)
      : PlainMath.trunc(value as number),
  abs: (value: unknown) =>
    isSymbolic(value)
      ? truthy(lt(value as Any, 0 as Any))
        ? neg(value as Any)
        : value
      : PlainMath.abs(value as number),
  exp: (value: unknown) => (isSymbolic(value) ? unsupported('exp') : PlainMath.exp(value as number)),
});

function unsupported(name: string): never {
  throw new Error(`Math.${name} of an unknown number`);
}

function isWhole(value: Symbolic): boolean {
  return value instanceof Sum && value.isWhole;
}

const SAFE = PlainNumber.MAX_SAFE_INTEGER;

function NumberShadow(value: unknown): unknown {
  return isSymbolic(value) ? value : PlainNumber(value);
}

export const number: object = Object.assign(NumberShadow, {
  isInteger: (value: unknown) => (isSymbolic(value) ? isWhole(value) : PlainNumber.isInteger(value)),
  isFinite: (value: unknown) => isSymbolic(value) || PlainNumber.isFinite(value),
  isNaN: (value: unknown) => !isSymbolic(value) && PlainNumber.isNaN(value),
  isSafeInteger: (value: unknown) =>
    isSymbolic(value)
      ? isWhole(value) && truthy(le(value as Any, SAFE as Any)) && truthy(ge(value as Any, neg(SAFE as Any) as Any))
      : PlainNumber.isSafeInteger(value),
  parseInt: PlainNumber.parseInt,
  parseFloat: PlainNumber.parseFloat,
  EPSILON: PlainNumber.EPSILON,
  MAX_SAFE_INTEGER: SAFE,
  MIN_SAFE_INTEGER: PlainNumber.MIN_SAFE_INTEGER,
  MAX_VALUE: PlainNumber.MAX_VALUE,
  MIN_VALUE: PlainNumber.MIN_VALUE,
  NaN: PlainNumber.NaN,
  POSITIVE_INFINITY: Infinity,
  NEGATIVE_INFINITY: -Infinity,
});

const views = new WeakMap<ArrayBuffer, unknown[]>();

/** An array of numbers, known or not. Two of them on one buffer are the same. */
export const float64Array: object = function Float64ArrayShadow(given: number | ArrayBuffer): unknown[] {
  if (typeof given === 'number') return zeros(given);
  const view = views.get(given) ?? zeros(given.byteLength / 8);
  views.set(given, view);
  return view;
};

function zeros(length: number): unknown[] {
  return Array.from({ length }, () => 0);
}

/** A date of an unknown time, in milliseconds of Unix time. Its text tells the time as it is known. */
class UnknownDate {
  readonly #time: Symbolic;

  constructor(time: Symbolic) {
    this.#time = time;
  }

  getTime(): Symbolic {
    return this.#time;
  }

  toISOString(): string {
    return `the time ${this.#time[Symbol.toPrimitive]('string')}`;
  }
}

export const date: object = new Proxy(globalThis.Date, {
  construct(plain, args: readonly unknown[]) {
    const [time] = args;
    return isSymbolic(time) ? new UnknownDate(time) : (Reflect.construct(plain, args) as object);
  },
});

/** Methods of arrays ask their callbacks for booleans, and would take a condition for true. */
export function askConditions(): void {
  const { prototype } = Array as unknown as { prototype: Record<string, (...args: unknown[]) => unknown> };
  for (const name of ['some', 'every', 'filter', 'find', 'findIndex', 'findLast', 'findLastIndex']) {
    const method = prototype[name]!;
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: unknown, callback: (...args: unknown[]) => unknown, ...rest: unknown[]) {
        return method.call(
          this,
          function (this: unknown, ...args: unknown[]) {
            const result = callback.apply(this, args);
            return isCondition(result) || isSymbolic(result) ? truthy(result) : result;
          },
          ...rest,
        );
      },
    });
  }
}
