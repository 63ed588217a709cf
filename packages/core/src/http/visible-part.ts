import { Decision } from '../decision/decision.ts';
import type { Decided } from '../decision/batch-answer.ts';
import { strictestOf } from '../decision/strictness.ts';

/**
 * A decision as clients are told of it: without hidden limits, with the figures of the strictest that remains.
 *
 * `null` when there are no figures to tell: no limit applied, an id is blocked, the store did not count, or only hidden
 * limits decided. A refusal by hidden limits alone has none either: figures that do not deny would explain nothing.
 */
export function visiblePart(decision: Decision): Decision | null {
  const { failure, blocked, limit, results } = decision;
  if (failure !== undefined || blocked || limit === null) return null;
  return results.some(({ hidden }) => hidden) ? withoutHidden(decision) : decision;
}

function withoutHidden(decision: Decision): Decision | null {
  const { results, allowed, outcome } = decision;
  if (results.every((result) => result.hidden || result.allowed !== allowed)) return null;
  const { batch, reading, ...rest } = Decision.rulingOf(decision) as Decided;
  const isVisible = (_: unknown, i: number): boolean => !results[i]!.hidden;
  const ruling: Decided = {
    ...rest,
    batch: batch.filter(isVisible),
    reading: { ...reading, levelsTicks: reading.levelsTicks.filter(isVisible) },
  };
  const visible = results.filter(isVisible);
  return new Decision(ruling, outcome, visible[strictestOf(ruling, visible)]!, visible);
}
