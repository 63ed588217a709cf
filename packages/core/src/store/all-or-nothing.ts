import { fits } from '../rule/gcra.ts';
import type { StoreTransaction } from './store.ts';

/** Whether a batch passes: each transaction that is not `spend-only` fits into its bucket. */
export function passes(batch: readonly StoreTransaction[], levelsTicks: readonly number[]): boolean {
  for (let i = 0; i < batch.length; i++) {
    const { mode, incrementTicks, toleranceTicks } = batch[i]!;
    if (mode !== 'spend-only' && !fits(levelsTicks[i]!, incrementTicks, toleranceTicks)) return false;
  }
  return true;
}
