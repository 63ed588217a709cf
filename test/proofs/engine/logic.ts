import { allOf, anyOf, not as opposite, type Truth } from './condition.ts';

/** Whether all conditions are true, as one condition: it makes no paths. */
export function all(...conditions: readonly boolean[]): boolean {
  return allOf(conditions) as boolean;
}

export function any(...conditions: readonly boolean[]): boolean {
  return anyOf(conditions) as boolean;
}

export function not(condition: boolean): boolean {
  return opposite(condition) as boolean;
}

/** What the implications since the last claim are about. */
const suppositions: Truth[] = [];

/** Whether the result is true if the condition is. A claim of it needs an example in which the condition is true. */
export function implies(condition: boolean, result: boolean): boolean {
  suppositions.push(condition);
  return anyOf([opposite(condition), result]) as boolean;
}

/** The conditions of the implications since the last call of this function. */
export function takeSuppositions(): readonly Truth[] {
  return suppositions.splice(0);
}
