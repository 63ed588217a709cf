import type { Answered } from '../decision/batch-answer.ts';
import { Decision } from '../decision/decision.ts';
import type { Result } from '../decision/result.ts';
import { strictestOf } from '../decision/strictness.ts';
import type { Transaction } from '../decision/transaction.ts';
import { partOf } from '../store/alternatives.ts';

/**
 * Returns a decision of a store with some of its results, with the figures of the strictest of them, for header fields;
 * `null` when none is selected.
 */
export function withSelected(
  decision: Decision,
  selects: (result: Result, transaction: Transaction) => boolean,
): Decision | null {
  const { results, outcome, delayMs } = decision;
  const { batch, reading, store, failure, owner } = Decision.answerOf(decision) as Answered;
  // Behind those of the results are the transactions of ceilings and pools.
  const indexes = [...results.keys()].filter((i) => selects(results[i]!, batch[i]!));
  if (indexes.length === 0) return null;
  const selected = indexes.map((i) => results[i]!);
  const answer: Answered = {
    available: true,
    batch: indexes.map((i) => batch[i]!),
    reading: partOf(reading, indexes),
    store,
    failure,
    owner,
  };
  return new Decision(answer, outcome, selected[strictestOf(answer, selected)]!, selected, delayMs);
}
