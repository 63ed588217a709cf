import type { Decided } from '../decision/decided.ts';
import { withSelected } from './selected-results.ts';

/**
 * Returns a decision without its hidden limits, with the figures of the strictest remaining one, for header fields.
 *
 * Returns `null` when there are no figures to report: no limit applied, no wait helps, the store did not count, or
 * only hidden limits decided. A denial by hidden limits alone has none either, because figures that do not deny would
 * not explain it.
 *
 * @param retryAfter - The value of Retry-After; 0 for none.
 */
export function visiblePart(decision: Decided, retryAfter: number): Decided | null {
  const { batch, origin, passed } = decision;
  if (origin.failure !== undefined || batch.length === 0 || (passed !== 0 && retryAfter === 0)) return null;
  for (let i = 0; i < batch.length; i++) if (batch[i]!.treatment.hidden) return withoutHidden(decision);
  return decision;
}

function withoutHidden(decision: Decided): Decided | null {
  const { results, allowed } = decision;
  if (results.every((result) => result.hidden || result.allowed !== allowed)) return null;
  return withSelected(decision, (result) => !result.hidden);
}
