/**
 * The generic cell rate algorithm (GCRA) by virtual scheduling. Pure: no clock, no I/O, no dependency.
 *
 * The whole memory of a bucket is one instant, its theoretical arrival time (TAT): when the bucket would be full
 * again if nothing more came. With T the emission interval, τ = burst × T the tolerance:
 *
 *     newTat = max(tat, now) + cost × T        allowed ⇔ newTat − now ≤ τ
 *
 * Here the rule is written in levels: level = max(tat − now, 0) is the debt of a bucket at `now`, and now + level
 * is its TAT. All quantities are whole ticks (see ticks.ts), so that every sum is exact.
 *
 * @see ITU-T I.371 (03/2004) Annex A.1: this is GCRA(T, τ − T).
 * @module
 */

/**
 * The debt of a bucket at `now`: 0 when it is full, `tolerance` when it is empty.
 *
 * It may be more than `tolerance`: the bucket was last used with other numbers, whose tolerance is larger. It stays as
 * it is then. If each look cut it to the tolerance of its own numbers, two sets of numbers in use on one bucket (a
 * roll-out, a plan in a token) would undo each other's debt, and nothing would be limited.
 */
export function levelOf(tat: number, now: number): number {
  return tat > now ? tat - now : 0;
}

/**
 * Whether a cost increment (cost × T) fits into what the bucket has left. An increment of 0 always fits. Written as a
 * difference, here and in {@link waitFor}: the sum of two times of up to ten years each may lie beyond 2^53 ticks.
 */
export function fits(level: number, increment: number, tolerance: number): boolean {
  return increment <= tolerance - level || increment === 0;
}

/** How long until the same cost increment fits: 0 when it does now, exact to the tick when it does not. */
export function waitFor(level: number, increment: number, tolerance: number): number {
  return fits(level, increment, tolerance) ? 0 : increment - (tolerance - level);
}

/** Whole tokens that are there. The quotient is exact after rounding down, since both sides are below 2^53. */
export function remainingTokens(level: number, emissionInterval: number, tolerance: number): number {
  return level < tolerance ? Math.floor((tolerance - level) / emissionInterval) : 0;
}

/** How long until one more whole token is there than now; 0 when the bucket is full. */
export function waitForNextToken(level: number, emissionInterval: number, tolerance: number): number {
  const next = remainingTokens(level, emissionInterval, tolerance) + 1;
  return waitFor(level, Math.min(next * emissionInterval, tolerance), tolerance);
}

/** The level after tokens were taken whether they fit or not: up to an empty bucket, and never less than before. */
export function charged(level: number, increment: number, tolerance: number): number {
  return Math.max(level, Math.min(level + increment, tolerance));
}

/** The level after tokens were given back: at least a full bucket. */
export function refunded(level: number, increment: number): number {
  return level > increment ? level - increment : 0;
}

/**
 * What of a decision's increment can still be given back: no more than the debt that it left and that has not yet
 * passed. A refund that comes late can't mint tokens that have come back by themselves.
 */
export function refundable(increment: number, tatAfterSpend: number, now: number): number {
  return Math.min(increment, Math.max(0, tatAfterSpend - now));
}
