import type { Bounds } from './theorem.ts';

/** Ten years of 365.25 days in ticks: the longest time in which a bucket fills. */
const TEN_YEARS = 3652.5 * 86_400 * 16_000_000;

/** T: from one tick to 366 days. */
export const INTERVAL: Bounds = { min: 1, max: 366 * 86_400 * 16_000_000 };
export const BURST: Bounds = { min: 1, max: 1_000_000_000 };
/** Numbers of tokens, and costs. */
export const TOKENS: Bounds = { min: 0, max: 1_000_000_000 };
/** Levels, and tolerances. */
export const LEVEL: Bounds = { min: 0, max: TEN_YEARS };
/** Below this, a double represents each whole number: 17.8 years in ticks. */
export const EXACT = 2 ** 53;
/** Points in time. */
export const TIME: Bounds = { min: 0, max: EXACT };
