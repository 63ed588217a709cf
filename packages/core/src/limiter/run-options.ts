import type { Awaitable } from '../async/awaitable.ts';
import type { Decision } from '../decision/decision.ts';
import type { TrueCosts } from './settlement.ts';
import type { SpendOptions } from './spend-options.ts';

/** What {@link Limiter.run} calls when it may. */
export type Work<T> = (decision: Decision) => Awaitable<T>;

/** How work has ended. */
interface WorkEnd {
  /** What the work threw or rejected with; undefined when it has succeeded. */
  readonly error: unknown;
  /** Whether the signal was aborted before the work ended. */
  readonly aborted: boolean;
}

/** The options of {@link Limiter.run}. */
export interface RunOptions<T, Costs = TrueCosts> {
  /** Aborting it ends the wait for a turn and gives the tokens back. It does not stop work that has begun. */
  readonly signal?: AbortSignal | undefined;
  /** When the caller gives up, as for `Limiter.spend`. Work that could begin only then is denied at once. Default: it waits. */
  readonly within?: SpendOptions['within'];
  /**
   * Returns the true cost of the work when it has ended, also when it has failed: `value` is then undefined. The difference
   * to what was taken is refunded or charged, see `Limiter.settle`. Where it returns nothing, the cost stays as it was
   * taken. If it throws, it does too, with an event `callback-failed`.
   */
  readonly settle?: ((value: T | undefined, end: WorkEnd) => Awaitable<Costs | undefined>) | undefined;
}

/** The outcome of the work of {@link Limiter.run}. */
export type Ran<T> =
  | { readonly allowed: true; readonly decision: Decision; readonly value: T }
  | { readonly allowed: false; readonly decision: Decision };
