import { Decided } from '../decision/decided.ts';
import type { Result } from '../decision/result.ts';
import type { Transaction } from '../decision/transaction.ts';
import { partOf } from '../store/alternatives.ts';

/**
 * Returns a decision of a store with some of its results, with the figures of the strictest of them, for header fields;
 * `null` when none is selected.
 */
export function withSelected(
  decision: Decided,
  selects: (result: Result, transaction: Transaction) => boolean,
): Decided | null {
  const { results, batch, origin } = decision;
  // Behind those of the results are the transactions of ceilings and pools.
  const indexes = [...results.keys()].filter((i) => selects(results[i]!, batch[i]!));
  if (indexes.length === 0) return null;
  const selected = <T>(all: readonly T[]): readonly T[] => indexes.map((i) => all[i]!);
  return new Decided(selected(batch), origin, partOf(decision, indexes), selected(results));
}
