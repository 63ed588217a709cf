import type { StoreCalls } from '../store/store-calls.ts';

/** The limit that is defined. */
export interface DefinedLimit {
  /** Its path in error messages: `limits.Orders`. */
  readonly where: string;
  readonly name: string;
  /** How the limiter calls its store; undefined for a limit without a limiter. */
  readonly calls?: StoreCalls;
}
