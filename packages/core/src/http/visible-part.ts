import { Decision } from '../decision/decision.ts';
import type { Answered } from '../decision/batch-answer.ts';
import { strictestOf } from '../decision/strictness.ts';

/**
 * Returns a decision without its hidden limits, with the figures of the strictest remaining one, for header fields.
 *
 * Returns `null` when there are no figures to report: no limit applied, an id is blocked, the store did not count, or
 * only hidden limits decided. A denial by hidden limits alone has none either, because figures that do not deny would
 * not explain it.
 */
export function visiblePart(decision: Decision): Decision | null {
  const { failure, blocked, limit, results } = decision;
  if (failure !== undefined || blocked || limit === null) return null;
  return results.some(({ hidden }) => hidden) ? withoutHidden(decision) : decision;
}

function withoutHidden(decision: Decision): Decision | null {
  const { results, allowed, outcome } = decision;
  if (results.every((result) => result.hidden || result.allowed !== allowed)) return null;
  const { batch, reading, ...rest } = Decision.answerOf(decision) as Answered;
  const isVisible = (_: unknown, i: number): boolean => !results[i]!.hidden;
  const answer: Answered = {
    ...rest,
    batch: batch.filter(isVisible),
    reading: { ...reading, levelsTicks: reading.levelsTicks.filter(isVisible) },
  };
  const visible = results.filter(isVisible);
  return new Decision(answer, outcome, visible[strictestOf(answer, visible)]!, visible);
}
