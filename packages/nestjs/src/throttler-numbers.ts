import type { Override, SluiceError } from '@sluice/core';
import { complaint, isPlainObject, MAX_TOKENS } from '@sluice/core/kit';

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

const DAY_MS = 86_400_000;
/** The longest period of a limit. */
const MAX_PERIOD_MS = 366 * DAY_MS;
/** The longest time that a bucket may need to fill: ten years. */
const MAX_FILL_MS = 3652.5 * DAY_MS;
/** A limit refills at most one token each tick, 16 in a microsecond. */
const MIN_EMISSION_MS = 1 / 16_000;

/**
 * Converts the numbers of a throttler to those of limits. Every number is decided by that number, as in the memory storage
 * of `@nestjs/throttler`.
 */
export function termsOf({ ttl, limit, blockDuration }: ThrottlerNumbers): ThrottlerTerms {
  // The default of `blockDuration` is the `ttl`, by which a client that retries would never be let in by a bucket.
  const blockMs = blockDuration === ttl ? 0 : Math.min(Math.max(blockDuration, 0), MAX_PERIOD_MS);
  return {
    hits: bucketOf(Math.floor(limit), ttl),
    block: blockMs === 0 ? null : { count: 1, period: period(Math.max(blockMs, 1)) },
    blockMs,
    ttlMs: Math.min(ttl, MAX_FILL_MS),
  };
}

/** @param limit - A whole number: one of 2.5 lets two requests through, because the third is above it. */
function bucketOf(limit: number, ttlMs: number): Override {
  if (limit < 1) return 'blocked';
  // 16 requests in each microsecond are more than any server decides, so such a bucket never becomes empty.
  if (limit === Infinity || ttlMs / limit < MIN_EMISSION_MS) return 'unlimited';
  if (ttlMs >= 1 && ttlMs <= MAX_PERIOD_MS && limit <= MAX_TOKENS) return { count: limit, period: period(ttlMs) };
  // The same rate in a period that a limit may have.
  const emissionMs = Math.min(ttlMs / limit, MAX_FILL_MS / limit, MAX_PERIOD_MS);
  const count = emissionMs < 1 ? 1_000_000 : 1;
  return { burst: Math.min(limit, MAX_TOKENS), count, period: period(emissionMs * count) };
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

function numberOf(value: unknown): number | undefined {
  // What a ConfigService reads from the environment is a string, and the throttler takes it too.
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && !Number.isNaN(number) ? number : undefined;
}

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
