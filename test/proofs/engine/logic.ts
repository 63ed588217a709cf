import { allOf, anyOf, not } from './condition.ts';

/** Whether all conditions are true, as one condition: it makes no paths. */
export function all(...conditions: readonly boolean[]): boolean {
  return allOf(conditions) as boolean;
}

export function any(...conditions: readonly boolean[]): boolean {
  return anyOf(conditions) as boolean;
}

export function implies(condition: boolean, result: boolean): boolean {
  return anyOf([not(condition), result]) as boolean;
}
