// The room numbers: the numbers and keys of other libraries as buckets, and decisions as the counts that they expect.
import { MAX_TOKENS } from '@sluice/core/kit';

/** What another library limits by: so many requests in a window. */
export interface WindowNumbers {
  /** Requests. A fraction counts as the whole number below it: the third request is above 2.5. Below 1, none passes. */
  readonly limit: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

/** The numbers of a token bucket, as an override has them. */
export interface BucketNumbers {
  readonly burst?: number | undefined;
  readonly count: number;
  readonly period: string;
}

const DAY_MS = 86_400_000;
/** The longest period of a limit, in milliseconds. */
export const MAX_PERIOD_MS: number = 366 * DAY_MS;
/** The longest time that a bucket may need to fill, in milliseconds: ten years. */
export const MAX_FILL_MS: number = 3652.5 * DAY_MS;
/** A limit refills at most one token each tick, 16 in a microsecond. */
const MIN_EMISSION_MS = 1 / 16_000;

/**
 * Converts a number of requests in a window to a token bucket: so many pass at once, and one more each time that
 * `windowMs / limit` has passed. Every number is decided by that number. Frozen, so that a limiter need not look at them again.
 */
export function bucketNumbers({ limit, windowMs }: WindowNumbers): BucketNumbers | 'unlimited' | 'blocked' {
  const burst = Math.floor(limit);
  if (burst < 1) return 'blocked';
  // 16 requests in each microsecond are more than any server decides, so such a bucket never becomes empty.
  if (burst === Infinity || windowMs / burst < MIN_EMISSION_MS) return 'unlimited';
  if (windowMs >= 1 && windowMs <= MAX_PERIOD_MS && burst <= MAX_TOKENS)
    return Object.freeze({ count: burst, period: period(windowMs) });
  // The same rate in a period that a limit may have.
  const emissionMs = Math.min(windowMs / burst, MAX_FILL_MS / burst, MAX_PERIOD_MS);
  const count = emissionMs < 1 ? 1_000_000 : 1;
  return Object.freeze({ burst: Math.min(burst, MAX_TOKENS), count, period: period(emissionMs * count) });
}

/** A bare number of milliseconds below 1000 is not valid as a period, because it could mean seconds. */
function period(ms: number): string {
  return `${Math.floor(ms * 1000)}us`;
}

/** Gives a number, or the text of one as it is read from the environment; `undefined` for everything else. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined;
}
