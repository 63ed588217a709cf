import { Decision } from '../decision/decision.ts';
import type { Result } from '../decision/result.ts';
import type { Transaction } from '../decision/transaction.ts';
import { withSelected } from './selected-results.ts';

/** The result of a limit that is not hidden, with its transaction. */
export type VisibleResult = readonly [Result, Transaction];

/** Returns the results of the limits that are not hidden. */
export function visibleResults(decision: Decision): readonly VisibleResult[] {
  const { batch } = Decision.answerOf(decision);
  return decision.results.flatMap((result, i) => (result.hidden ? [] : [[result, batch[i]!]]));
}

/**
 * Returns a decision without its hidden limits, with the figures of the strictest remaining one, for header fields.
 *
 * Returns `null` when there are no figures to report: no limit applied, no wait helps, the store did not count, or
 * only hidden limits decided. A denial by hidden limits alone has none either, because figures that do not deny would
 * not explain it.
 */
export function visiblePart(decision: Decision): Decision | null {
  if (decision.failure !== undefined || decision.retryAfterMs === Infinity || decision.limit === null) return null;
  const { batch } = Decision.answerOf(decision);
  // The results of one transaction are not made for this: see docs/hot-path.md.
  const hasHidden = batch.length === 1 ? batch[0]!.treatment.hidden : decision.results.some(({ hidden }) => hidden);
  return hasHidden ? withoutHidden(decision) : decision;
}

function withoutHidden(decision: Decision): Decision | null {
  const { results, allowed } = decision;
  if (results.every((result) => result.hidden || result.allowed !== allowed)) return null;
  return withSelected(decision, (result) => !result.hidden);
}
