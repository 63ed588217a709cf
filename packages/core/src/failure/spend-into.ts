import type { Store, StoreReading, StoreTransaction } from '../store/store.ts';

/** Receives the outcome of one call of a store, in place of a promise: exactly one of its methods is called, once. */
export interface AnswerSink {
  /** Called with the reading. */
  answered(reading: StoreReading): void;
  /** Called with what the call failed with. */
  failed(error: unknown): void;
}

/** Does what `spend` of a store does, but gives the outcome to a sink. It neither throws nor returns anything. */
export type SpendInto = (
  store: Store,
  batch: readonly StoreTransaction[],
  deadlineMs: number,
  sink: AnswerSink,
) => void;

/**
 * The name of a {@link SpendInto} that is a property of the method `spend` itself: the promise of the guard is then the only
 * one of a call. A `spend` that wraps or replaces the method does not have it, and is called as that of any other store.
 */
export const SPEND_INTO: unique symbol = Symbol('spend into');

/** Returns the {@link SpendInto} of a store, if it has one. */
export function spendIntoOf(store: Store): SpendInto | undefined {
  return (store.spend as { readonly [SPEND_INTO]?: SpendInto })[SPEND_INTO];
}
