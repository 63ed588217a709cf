import type { Decision } from '../decision/decision.ts';

/** The name of the limit of a middleware that was given none. */
export const DEFAULT_NAME = 'default';

/** What the fields of a response call the limit without a name, where another middleware has one, too. */
const names = new WeakMap<Decision, string>();

/** Notes that the fields of a decision call its limit without a name differently. */
export function noteShownName(decision: Decision, name: string): void {
  names.set(decision, name);
}

/** Returns the name by which the fields of a response mention a limit, for other parts of the response. */
export function shownNameOf(decision: Decision, limit: string): string {
  return limit === DEFAULT_NAME ? (names.get(decision) ?? limit) : limit;
}
