import type { Override, SluiceError } from '@sluice/core';
import { complaint, isPlainObject } from '@sluice/core/kit';
import { bucketNumbers, MAX_FILL_MS, MAX_PERIOD_MS, numberOf } from '@sluice/drop-in/numbers';

/** The numbers of a throttler, where they are no functions. Durations are milliseconds. */
export interface ThrottlerNumbers {
  readonly ttl: number;
  readonly limit: number;
  readonly blockDuration: number;
}

/** What a call of the storage is decided by. */
export interface ThrottlerTerms {
  /** The bucket of the hits, or whether they always pass, or never. */
  readonly hits: Override;
  /** The bucket of the block; null when there is no block beyond the wait for a token. */
  readonly block: Override | null;
  /** The block in milliseconds, at most {@link MAX_PERIOD_MS}; 0 without one. */
  readonly blockMs: number;
  /** The `ttl`, at most ten years. */
  readonly ttlMs: number;
}

/**
 * Converts the numbers of a throttler to those of limits. Every number is decided by that number, as in the memory storage
 * of `@nestjs/throttler`.
 */
export function termsOf({ ttl, limit, blockDuration }: ThrottlerNumbers): ThrottlerTerms {
  // The default of `blockDuration` is the `ttl`, by which a client that retries would never be let in by a bucket.
  const blockMs = blockDuration === ttl ? 0 : Math.min(Math.max(blockDuration, 0), MAX_PERIOD_MS);
  return {
    hits: bucketNumbers({ limit, windowMs: ttl }),
    block: blockMs === 0 ? null : { count: 1, period: period(Math.max(blockMs, 1)) },
    blockMs,
    ttlMs: Math.min(ttl, MAX_FILL_MS),
  };
}

/** A bare number of milliseconds below 1000 is not valid as a period, because it could mean seconds. */
function period(ms: number): string {
  return `${Math.floor(ms * 1000)}us`;
}

/** The numbers of a call, as far as they are numbers. */
export interface GivenNumbers {
  /** Null when `ttl` or `limit` is not a number, so that nothing can be decided. */
  readonly numbers: ThrottlerNumbers | null;
  /** What is not a number. */
  readonly wrong: readonly SluiceError[];
}

/** Reads the numbers of a call. A `blockDuration` that is not a number is the `ttl`, which is its default. */
export function numbersOf(given: { readonly [Name in keyof ThrottlerNumbers]: unknown }): GivenNumbers {
  const ttl = numberOf(given.ttl);
  const limit = numberOf(given.limit);
  const blockDuration = numberOf(given.blockDuration);
  const read = { ttl, limit, blockDuration };
  const wrong = NAMES.filter((name) => read[name] === undefined).map((name) =>
    notANumber(`throttlers.${name}`, given[name]),
  );
  if (ttl === undefined || limit === undefined) return { numbers: null, wrong };
  return { numbers: { ttl, limit, blockDuration: blockDuration ?? ttl }, wrong };
}

const NAMES = ['ttl', 'limit', 'blockDuration'] as const;

function notANumber(option: string, value: unknown): SluiceError {
  const remedy = 'For no limit write limit: Infinity. Is it a variable of the environment that is not set?';
  return complaint('ERR_OPTION', { option, demand: 'a number', value, remedy });
}

/**
 * Checks the list of throttlers of an application.
 *
 * @throws {SluiceError} `ERR_OPTION` for a number that is not one. Functions return theirs for each request.
 */
export function checkThrottlers(throttlers: unknown): void {
  if (throttlers === undefined) return;
  if (!Array.isArray(throttlers)) {
    const remedy = 'Pass the same list as to ThrottlerModule.forRoot.';
    throw complaint('ERR_OPTION', { option: 'throttlers', demand: 'a list', value: throttlers, remedy });
  }
  for (const [index, throttler] of throttlers.entries()) checkThrottler(`throttlers[${index}]`, throttler);
}

function checkThrottler(where: string, throttler: unknown): void {
  if (!isPlainObject(throttler)) {
    const remedy = 'For example { ttl: 60_000, limit: 10 }.';
    throw complaint('ERR_OPTION', { option: where, demand: 'an object', value: throttler, remedy });
  }
  const { ttl, limit, blockDuration = ttl } = throttler;
  for (const [name, value] of Object.entries({ ttl, limit, blockDuration })) {
    if (typeof value !== 'function' && numberOf(value) === undefined) throw notANumber(`${where}.${name}`, value);
  }
}
