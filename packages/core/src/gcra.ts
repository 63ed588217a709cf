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
 * The clock may have gone back since the TAT was written: the TAT is kept, so callers wait a little longer and
 * nobody gets more than the burst. A TAT further ahead than `now + tolerance` (the limit was raised, or the clock
 * went back far) counts as an empty bucket; the store that meets one replaces it, see {@link isTooFarAhead}.
 */
export function levelOf(tat: number, now: number, tolerance: number): number {
  const level = tat - now;
  return level <= 0 ? 0 : level < tolerance ? level : tolerance;
}

/**
 * Whether a stored TAT must be replaced by `now + tolerance`. Whoever meets it first writes it, allowed or denied:
 * clamping in the arithmetic alone would never heal, since each look would clamp to a later moment.
 */
export function isTooFarAhead(tat: number, now: number, tolerance: number): boolean {
  return tat - now > tolerance;
}

/**
 * Whether a cost increment (cost × T) fits into what the bucket has left. Written as a difference, here and in
 * {@link waitFor}: the sum of two times of up to ten years each may lie beyond 2^53 ticks.
 */
export function fits(level: number, increment: number, tolerance: number): boolean {
  return increment <= tolerance - level;
}

/** How long until the same cost increment fits: 0 when it does now, exact to the tick when it does not. */
export function waitFor(level: number, increment: number, tolerance: number): number {
  const wait = increment - (tolerance - level);
  return wait > 0 ? wait : 0;
}

/** Whole tokens that are there. The quotient is exact after rounding down, since both sides are below 2^53. */
export function remainingTokens(level: number, emissionInterval: number, tolerance: number): number {
  return Math.floor((tolerance - level) / emissionInterval);
}

/** How long until one more whole token is there than now; 0 when the bucket is full. */
export function waitForNextToken(level: number, emissionInterval: number, tolerance: number): number {
  const next = remainingTokens(level, emissionInterval, tolerance) + 1;
  return waitFor(level, Math.min(next * emissionInterval, tolerance), tolerance);
}

/** The level after tokens were taken whether they fit or not: at most an empty bucket. */
export function charged(level: number, increment: number, tolerance: number): number {
  return Math.min(level + increment, tolerance);
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
