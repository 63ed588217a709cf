import { refundable } from '../rule/gcra.ts';
import { nowTicksAt, type StoreReading, type StoreRefund } from '../store/store.ts';
import type { Charge } from './batch-answer.ts';
import { isInternal } from './transaction.ts';

/** A bucket of a charge or of a refund. */
type Change = Charge & Partial<StoreRefund>;

/**
 * Returns how many tokens a charge took, or a refund gave back, of each bucket: less than its cost if the bucket had no more. If
 * the store does not return the levels before it, a charge that leaves its bucket empty, and a refund of named buckets that
 * leaves it full, count with their costs.
 */
export function movedTokens(batch: readonly Change[], reading: StoreReading, kind: 'charge' | 'refund'): number[] {
  return batch.map((change, i) => {
    const ticks = kind === 'charge' ? ticksTaken(change, reading, i) : ticksReturned(change, reading, i);
    return Math.floor(ticks / change.rate.emissionIntervalTicks);
  });
}

/** The same by limit: the buckets of a limit that borrows are one. */
export function movedByLimit(
  batch: readonly Change[],
  reading: StoreReading,
  kind: 'charge' | 'refund',
): readonly { readonly limit: string; readonly cost: number }[] {
  const tokens = movedTokens(batch, reading, kind);
  const visible = batch.filter((change) => !isInternal(change));
  let next = visible.length;
  return visible.map(({ limit, treatment }, i) => {
    const own = tokens[i]!;
    return { limit, cost: treatment.part === 'assured' ? Math.max(own, tokens[next++]!, tokens[next++]!) : own };
  });
}

function ticksTaken({ incrementTicks, capTicks }: Change, reading: StoreReading, i: number): number {
  const after = reading.levelsTicks[i]!;
  const before = reading.beforeTicks?.[i];
  if (before !== undefined) return after - before;
  // A level above the cap was there before.
  return after > capTicks ? 0 : Math.min(incrementTicks, after);
}

function ticksReturned(change: Change, reading: StoreReading, i: number): number {
  const { incrementTicks, tatAfterSpendTicks, lineTicks = Infinity } = change;
  const after = reading.levelsTicks[i]!;
  const before = reading.beforeTicks?.[i];
  if (before !== undefined) return before - after;
  if (tatAfterSpendTicks === undefined) return incrementTicks;
  const aheadTicks = tatAfterSpendTicks - nowTicksAt(reading, i);
  const ticks = refundable(incrementTicks, aheadTicks, 0);
  // Requests that came later are waiting.
  return Math.max(after, aheadTicks) > lineTicks && after !== aheadTicks - ticks ? 0 : ticks;
}
