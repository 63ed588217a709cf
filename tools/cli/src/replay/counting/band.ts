/**
 * A count of a replay. The two numbers are equal for a log with fractions of a second. For a log of whole seconds they are the
 * smaller and the larger outcome of two replays: with all requests at the start of their second, and spread over it. They are
 * examples, not bounds: a burst across a second is split in both, so the true count can be outside. The counts of denials are
 * {@link DenialBounds} where these are known.
 */
export interface Band {
  readonly low: number;
  readonly high: number;
}

export const NONE: Band = { low: 0, high: 0 };

/** Returns the band of the outcomes of all passes. */
export function bandOf(outcomes: readonly number[]): Band {
  return { low: Math.min(...outcomes), high: Math.max(...outcomes) };
}
