import type { Awaitable } from '../../async/awaitable.ts';
import { systemTime } from '../../time/system-time.ts';
import { checkTime, type Time } from '../../time/time.ts';
import { durationTicks, type Duration } from '../../rule/duration.ts';
import { complaint, reasonOf } from '../../checks/errors.ts';
import { eventSink, type Log } from '../../events/event-sink.ts';
import { checkOptions, wholeNumber } from '../../checks/options.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';
import type { Override } from './override.ts';
import { OverrideCache, type OverrideQuery, type StaleOverride } from './override-cache.ts';

/** The options of {@link cachedOverrides}. */
export interface CachedOverridesOptions {
  /** How long an answer is used without a new query, from 1 ms to 366 days: `'1m'`. */
  readonly maxAge: Duration;
  /** The largest number of cached answers, a whole number from 1 to 10,000,000. Default: 10,000. */
  readonly maxEntries?: number | undefined;
  /** The source of time. Default: the process's own; for tests a `FakeTime` of `@sluice/core/testing`. */
  readonly time?: Time | undefined;
  /**
   * Called when a cached answer remains in use because it could not be refreshed. Errors that it throws are ignored.
   */
  readonly onEvent?: ((event: CachedOverridesEvent) => void) | undefined;
  /** Receives log lines, at most one in ten seconds; `false` disables logging. Default: `console.warn`. */
  readonly log?: Log | false | undefined;
}

/** A cached answer could not be refreshed, and remains in use. `message` is the log line. */
export interface CachedOverridesEvent {
  readonly type: 'override-refresh-failed';
  readonly limit: string;
  readonly id: string;
  /** What the query threw or rejected with, or why its answer is not an override. */
  readonly cause: unknown;
  readonly message: string;
}

/** An `overrides` function with a cache. */
export interface CachedOverrides {
  /** Returns the override of an id: a cached one, or the query's answer. */
  (limit: string, id: string): Awaitable<Override | undefined>;
  /**
   * Deletes the answer for an id, so that the next request starts a query: for a plan that has just changed. The answer
   * of a query in progress is not cached either.
   *
   * @param id - The canonical id, as the query receives it.
   * @param limit - The name of a limit. Default: all limits.
   */
  delete(id: string, limit?: string): void;
  /** Deletes all answers. */
  clear(): void;
}

/**
 * Creates an `overrides` function that caches the answers of a database, or of any source that is slow or can fail.
 *
 *     const overrides = cachedOverrides((_limit, id) => plans.findByAccount(id), { maxAge: '1m', maxEntries: 50_000 });
 *     createLimiter({ limits, overrides });
 *
 * - Concurrent requests of one id share one query.
 * - An answer younger than `maxAge` is returned at once. `undefined`, for no override, is an answer too.
 * - An older answer is also returned at once, while one query refreshes it. It stays in use while that query runs, and
 *   if it fails.
 * - A failure is not cached as an answer. The query is repeated at most once a second for each id, or once in `maxAge`
 *   if that is shorter. A query without an answer for 10 seconds counts as failed. For an id without a cached answer,
 *   the limiter then uses the limit's own numbers, as with every `overrides` function.
 * - At most `maxEntries` answers are cached. Those that were not used for the longest time are evicted first. A flood
 *   of ids without an override does not evict ids with one, up to half of the entries.
 *
 * @param query - Receives the limit's name and the canonical id, but not the request: an answer is valid for all
 * requests of an id.
 * @throws {SluiceError} For wrong options, see docs/errors.md.
 */
export function cachedOverrides(query: OverrideQuery, options: CachedOverridesOptions): CachedOverrides {
  if (typeof query !== 'function') {
    const remedy = 'For example cachedOverrides((limit, id) => plans.findByAccount(id), …).';
    throw complaint('ERR_OPTION', { option: 'cachedOverrides(fn)', demand: 'a function', value: query, remedy });
  }
  checkOptions('cachedOverrides', options, ['maxAge', 'maxEntries', 'time', 'onEvent', 'log']);
  const { maxAge, maxEntries = 10_000, time = systemTime } = options;
  checkTime(time);
  const emit = eventSink<CachedOverridesEvent>(options);
  const cache = new OverrideCache({
    ask: query,
    maxAgeMicros: durationTicks('maxAge', maxAge, MAX_AGE) / TICKS_PER_MICRO,
    maxEntries: wholeNumber('maxEntries', maxEntries, { min: 1, max: 10_000_000 }),
    time,
    onStale: (stale) => emit(refreshFailed(stale)),
  });
  return Object.assign((limit: string, id: string) => cache.get(limit, id), {
    delete: (id: string, limit?: string) => cache.delete(id, limit),
    clear: () => cache.clear(),
  });
}

const MAX_AGE = { minMs: 1, maxMs: 366 * 86_400_000, demand: 'from 1ms to 366 days' };

function refreshFailed({ limit, id, ageMicros, cause }: StaleOverride): CachedOverridesEvent {
  const age = `${Math.floor(ageMicros / 1_000_000)} s old`;
  const message = `A cached override of limit "${limit}" could not be refreshed (${reasonOf(cause)}). The cached one, ${age}, stays in use. Check the overrides function and its database.`;
  return { type: 'override-refresh-failed', limit, id, cause, message };
}
