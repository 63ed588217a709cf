import type { StoreOperation } from '@sluice/core/store';

/** The largest number of buckets of several operations in one statement. A longer one would lock rows for longer. */
export const MAX_BUCKETS = 64;

/** Splits an operation that need not be atomic into operations of at most {@link MAX_BUCKETS} buckets. */
export function piecesOf(operation: StoreOperation): readonly StoreOperation[] {
  const { kind } = operation;
  if (kind !== 'reset' && kind !== 'renew' && kind !== 'release') return [operation];
  const { batch } = operation;
  if (batch.length <= MAX_BUCKETS) return [operation];
  const pieces: StoreOperation[] = [];
  for (let i = 0; i < batch.length; i += MAX_BUCKETS) {
    pieces.push({ kind, batch: batch.slice(i, i + MAX_BUCKETS) } as StoreOperation);
  }
  return pieces;
}
