import type { Result } from './result.ts';
import type { Judged } from './batch-answer.ts';
import type { Decision } from './decision.ts';
import { periodLeft, ticksUntilFit } from './period-left.ts';
import { TICKS_PER_MS } from '../rule/ticks.ts';
import { canDeny, levelAfter } from '../store/transaction-rule.ts';

interface Strictness {
  readonly allowed: boolean;
  readonly remaining: number;
  /** The time until the same transaction passes, or would pass again. */
  readonly waitTicks: number;
}

/** Returns the index of the strictest result whose mode can deny; the first index if there is none. */
export function strictestOf(decided: Judged, results: readonly Result[]): number {
  let strictest = -1;
  for (let i = 0; i < results.length; i++) {
    if (!canDeny(results[i]!.mode)) continue;
    if (strictest < 0 || isStricter(ofResult(decided, results, i), ofResult(decided, results, strictest)))
      strictest = i;
  }
  return Math.max(strictest, 0);
}

/** Returns the result with the longest wait; of equals the first. At least one. */
export function longestOf(results: readonly Result[]): Result {
  return results.reduce((one, other) => (other.retryAfterMs > one.retryAfterMs ? other : one));
}

/** Returns the strictest of several decisions on one request, in the same order. */
export function strictestDecision<D extends Decision>(decisions: readonly D[]): D {
  return decisions.reduce((one, other) => (isStricter(ofDecision(other), ofDecision(one)) ? other : one));
}

// Denied before allowed, then the longer wait, then the fewer remaining tokens; among equals, the first.
function isStricter(one: Strictness, than: Strictness): boolean {
  if (one.allowed !== than.allowed) return !one.allowed;
  return one.waitTicks === than.waitTicks ? one.remaining < than.remaining : one.waitTicks > than.waitTicks;
}

function ofResult(decided: Judged, results: readonly Result[], i: number): Strictness {
  const { allowed, remaining, spent, retryAfterMs } = results[i]!;
  const transaction = decided.batch[i]!;
  // The ceiling or the pool may have denied it, and not its own bucket.
  if (!allowed && transaction.treatment.part === 'assured') {
    return { allowed, remaining, waitTicks: retryAfterMs * TICKS_PER_MS };
  }
  const level = decided.levelsTicks[i]!;
  const after = spent > 0 ? levelAfter(transaction, level) : level;
  return { allowed, remaining, waitTicks: ticksUntilFit(transaction, after, periodLeft(transaction, decided, i)) };
}

function ofDecision(decision: Decision): Strictness {
  // Every decision is one of a batch.
  const decided = decision as Decision & Judged;
  const { allowed, remaining, retryAfterMs, results, origin } = decided;
  if (origin.store === undefined || results.length === 0)
    return { allowed, remaining, waitTicks: retryAfterMs * TICKS_PER_MS };
  // A decision that could not deny is the least strict.
  if (!results.some(({ mode }) => canDeny(mode))) return { allowed, remaining: Infinity, waitTicks: -1 };
  return ofResult(decided, results, strictestOf(decided, results));
}
