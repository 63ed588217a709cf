// The room rule: GCRA, ticks, rates and durations: pure functions.

/**
 * The generic cell rate algorithm (GCRA) by virtual scheduling. Pure: no clock, no I/O, no dependency.
 *
 * The entire state of a bucket is one instant, its theoretical arrival time (TAT): when the bucket would be full if no
 * further request came. With the emission interval T and the tolerance τ = burst × T:
 *
 *     newTat = max(tat, now) + cost × T        allowed ⇔ newTat − now ≤ τ
 *
 * Here the rule is written in levels: level = max(tat − now, 0) is the debt of a bucket at `now`, and now + level is
 * its TAT. All quantities are whole ticks, so that sums are exact below 2^53 (see ticks.ts). Here only {@link charged}
 * may add two numbers to more than that, and then the sum is above every cap even when it is rounded.
 *
 * @see ITU-T I.371 (03/2004) Annex A.1: this is GCRA(T, τ − T).
 * @module
 */

/** The numbers of a bucket: τ is burst × T. */
interface Bucket {
  readonly burst: number;
  readonly emissionIntervalTicks: number;
  readonly toleranceTicks: number;
}

/**
 * Returns the debt of a bucket at `now`: 0 when it is full, `tolerance` when it is empty.
 *
 * The level exceeds `tolerance` when the bucket was last used with other numbers, whose tolerance is larger. It is not
 * cut. If each reading cut it to the tolerance of its own numbers, two sets of numbers in use on one bucket (a
 * roll-out, a plan in a token) would undo each other's debt, and nothing would be limited.
 */
export function levelOf(tat: number, now: number): number {
  return tat > now ? tat - now : 0;
}

/**
 * Whether a cost increment (cost × T) fits into the bucket. An increment of 0 always fits. The condition is a
 * difference, here and in `waitFor`, because the sum of two times of up to ten years each can exceed 2^53 ticks.
 */
export function fits(level: number, increment: number, tolerance: number): boolean {
  return increment <= tolerance - level || increment === 0;
}

/** Returns the time until the same cost increment fits: 0 when it fits now, otherwise exact to the tick. */
export function waitFor(level: number, increment: number, tolerance: number): number {
  return fits(level, increment, tolerance) ? 0 : increment - (tolerance - level);
}

/**
 * Returns the whole tokens that are left. The quotient is exact after rounding down, since both operands are below
 * 2^53.
 */
export function remainingTokens(level: number, emissionInterval: number, tolerance: number): number {
  return level < tolerance ? Math.floor((tolerance - level) / emissionInterval) : 0;
}

/**
 * Returns the time until one more whole token fits than now; 0 when the bucket is full.
 *
 * If the tolerance is a share of a bucket, it need not be a whole number of tokens. Then `remaining` may be all that can
 * ever fit, and the time is the one after which a client that has spent these tokens can spend one more.
 */
export function waitForNextToken(level: number, emissionInterval: number, tolerance: number): number {
  if (level === 0) return 0;
  return waitFor(level, (remainingTokens(level, emissionInterval, tolerance) + 1) * emissionInterval, tolerance);
}

/**
 * Returns the level up to which a share of a bucket reaches, to the nearest tick. Not rounded down, because the product
 * of two doubles may be too small: 0.29 of 100 tokens is 29 tokens, but 0.29 × 100 is 28.999999999999996.
 *
 * @param share - Above 0, at most 1.
 */
export function shareOf(tolerance: number, share: number): number {
  return Math.round(share * tolerance);
}

/**
 * Returns a share of whole things, such as slots, rounded down: half of 3 is 1. The product may be too small by its last
 * two bits, as that of 0.29 and 100 tokens is.
 */
export function wholeShareOf(count: number, share: number): number {
  return Math.floor(share * count * (1 + 2 * Number.EPSILON));
}

/**
 * Returns the level after a charge, which takes tokens whether they fit or not: at most an empty bucket, but never less
 * than before.
 */
export function charged(level: number, increment: number, tolerance: number): number {
  return Math.max(level, Math.min(level + increment, tolerance));
}

/**
 * Returns the level of a bucket about which is known that `remaining` tokens are left at most, or that a cost of 1 does
 * not fit before `waitTicks`; of both, the higher one. It may exceed the tolerance. {@link charged} with it as increment
 * and as cap restricts a bucket: the level becomes this one, or stays if it is higher.
 */
export function restrictedLevel(
  { burst, emissionIntervalTicks, toleranceTicks }: Bucket,
  { remaining, waitTicks }: { readonly remaining?: number | undefined; readonly waitTicks?: number | undefined },
): number {
  const byTokens = remaining === undefined ? 0 : (burst - remaining) * emissionIntervalTicks;
  const byWait = waitTicks === undefined ? 0 : toleranceTicks - emissionIntervalTicks + waitTicks;
  return Math.max(0, byTokens, byWait);
}

/** Returns the level after a refund: at least 0, a full bucket. */
export function refunded(level: number, increment: number): number {
  return level > increment ? level - increment : 0;
}

/**
 * Returns the part of a decision's increment that can still be given back: at most the part of the TAT after the
 * decision that still lies ahead. A late refund can therefore not create tokens that have already refilled.
 */
export function refundable(increment: number, tatAfterSpend: number, now: number): number {
  return Math.min(increment, Math.max(0, tatAfterSpend - now));
}
