import { fits } from '../rule/gcra.ts';
import type { StoreTransaction } from './store.ts';

/** Whether a batch passes: every transaction that checks fits into the level of its bucket. */
export function passes(batch: readonly StoreTransaction[], levelsTicks: readonly number[]): boolean {
  for (let i = 0; i < batch.length; i++) {
    const { mode, incrementTicks, toleranceTicks } = batch[i]!;
    if (mode !== 'spend-only' && !fits(levelsTicks[i]!, incrementTicks, toleranceTicks)) return false;
  }
  return true;
}
