import type { Store, StoreReading, StoreOperation } from '../store/store.ts';

/** Receives the outcome of one operation, in place of a promise: exactly one of its methods is called, once. */
export interface AnswerSink {
  /** Called with the reading. */
  answered(reading: StoreReading): void;
  /** Called with what the operation failed with. */
  failed(error: unknown): void;
}

/** Does what `run` of a store does, but gives the outcome to a sink. It neither throws nor returns anything. */
export type RunInto = (store: Store, operation: StoreOperation, deadlineMs: number, sink: AnswerSink) => void;

/**
 * The name of a {@link RunInto} that is a property of the method `run` itself: the promise of the guard is then the only
 * one of an operation. A `run` that wraps or replaces the method does not have it, and is called as that of any other store.
 */
export const RUN_INTO: unique symbol = Symbol('run into');

/** Returns the {@link RunInto} of a store, if it has one. */
export function runIntoOf(store: Store): RunInto | undefined {
  return (store.run as { readonly [RUN_INTO]?: RunInto })[RUN_INTO];
}
