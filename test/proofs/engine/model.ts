import type { Condition } from './condition.ts';
import { keyOf, type Sum } from './sum.ts';

/** Values of unknowns, and of products of them, by their names. */
export type Model = ReadonlyMap<string, bigint | number>;

/** Whether a condition is true for some values. Undefined if not all of its unknowns have a whole one. */
export function isTrueFor(condition: Condition, model: Model): boolean | undefined {
  if ('parts' in condition) {
    const decisive = condition.kind === 'any';
    const parts = condition.parts.map((part) => isTrueFor(part, model));
    if (parts.includes(decisive)) return decisive;
    return parts.includes(undefined) ? undefined : !decisive;
  }
  const value = valueOf(condition.sum, model);
  if (value === undefined) return undefined;
  if (condition.kind === '=') return value === 0n;
  if (condition.kind === '!=') return value !== 0n;
  return condition.kind === '<' ? value < 0n : value <= 0n;
}

function valueOf({ terms, constant }: Sum, model: Model): bigint | undefined {
  let value = constant;
  for (const { factors, coefficient } of terms.values()) {
    const each = model.get(keyOf(factors));
    if (typeof each !== 'bigint') return undefined;
    value += coefficient * each;
  }
  return value;
}
