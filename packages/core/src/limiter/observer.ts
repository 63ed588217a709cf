import type { Decision } from '../decision/decision.ts';
import type { Limiter } from './limiter.ts';

/**
 * What was changed after decisions.
 *
 * - `charged`: tokens were taken after the fact, by a charge or by a settlement.
 * - `restricted`: tokens were taken because somebody else has reported fewer, by `Limiter.restrict`.
 * - `refunded`: tokens were given back, by a refund or by a settlement. What has refilled meanwhile is not given back.
 * - `settled`: the true cost of a decision became known. The difference is `charged` or `refunded` beside it.
 * - `reset`: a bucket was filled. How many tokens that were is not known: the cost is 0.
 * - `blocked`, `unblocked`: an id was blocked at a limit, or its block was ended. The cost is 0.
 * - `lost`: a charge or a refund did not reach the store. Its tokens were not taken, or stay taken.
 */
export type CorrectionDirection =
  | 'charged'
  | 'restricted'
  | 'refunded'
  | 'settled'
  | 'reset'
  | 'blocked'
  | 'unblocked'
  | 'lost';

/** Something that was changed after decisions. */
export interface Correction {
  /** The name of the limit. */
  readonly limit: string;
  /** Tokens. */
  readonly cost: number;
  readonly direction: CorrectionDirection;
}

/** Sees all that a limiter decides and changes, for its counts. Its methods must not throw. */
export interface Observer {
  /** @param shadow - Whether the request was let through whatever the decision. */
  decided(decision: Decision, shadow: boolean): void;
  corrected(correction: Correction): void;
  /** The limiter was closed: nothing follows. */
  closed(limiter: Limiter<never>): void;
}
