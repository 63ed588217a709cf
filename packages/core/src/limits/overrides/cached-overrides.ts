import type { Awaitable } from '../../async/awaitable.ts';
import { checkClock, monotonicClock, type Clock } from '../../time/clock.ts';
import { durationTicks, type Duration } from '../../rule/duration.ts';
import { complaint, reasonOf } from '../../checks/errors.ts';
import type { Log } from '../../events/throttled-log.ts';
import { notifier } from '../../events/event-sink.ts';
import { checkOptions, wholeNumber } from '../../checks/options.ts';
import { TICKS_PER_MICRO } from '../../rule/ticks.ts';
import type { Override } from './override.ts';
import { OverrideCache, type OverrideQuery, type StaleOverride } from './override-cache.ts';

/** The options of {@link cachedOverrides}. */
export interface CachedOverridesOptions {
  /** How long an answer is given without asking again, from 1 ms to 366 days: `'1m'`. */
  readonly maxAge: Duration;
  /** The most answers that are kept, a whole number from 1 to 10,000,000. Default: 10,000. */
  readonly maxEntries?: number | undefined;
  /** The source of time; the process's monotonic clock unless given. */
  readonly clock?: Clock | undefined;
  /** Told when a known answer remains in use because it could not be refreshed. What it throws is ignored. */
  readonly onEvent?: ((event: CachedOverridesEvent) => void) | undefined;
  /** Where log lines go, at most one in ten seconds; `false` for nowhere. Default: `console.warn`. */
  readonly log?: Log | false | undefined;
}

/** A known answer could not be refreshed, and remains in use. `message` is the log line. */
export interface CachedOverridesEvent {
  readonly type: 'override-refresh-failed';
  readonly limit: string;
  readonly id: string;
  /** What the query threw or rejected with, or why its answer is not an override. */
  readonly cause: unknown;
  readonly message: string;
}

/** An `overrides` function that remembers its answers. */
export interface CachedOverrides {
  (limit: string, id: string): Awaitable<Override | undefined>;
  /**
   * Forgets the answer for an id, so that the next request asks anew: for a plan that has just changed. The answer of a
   * query that runs at that moment is not kept either.
   *
   * @param id - As the query gets it: canonical.
   * @param limit - Only for this limit. Default: for all.
   */
  delete(id: string, limit?: string): void;
  /** Forgets all answers. */
  clear(): void;
}

/**
 * Makes an `overrides` function that keeps the answers of a database, or of anything else that is slow or can fail.
 *
 *     const overrides = cachedOverrides((_limit, id) => plans.findByAccount(id), { maxAge: '1m', maxEntries: 50_000 });
 *     createLimiter({ limits, overrides });
 *
 * - Requests of one id at the same time share one query.
 * - An answer younger than `maxAge` is given at once. `undefined`, no override, is an answer too.
 * - An older one is given at once as well, while one query refreshes it. It stays in use while that query runs, and when
 *   it fails.
 * - A failure is not kept as an answer. The query is repeated at most once a second for each id, or once in `maxAge` if
 *   that is shorter; one that has not answered for 10 seconds counts as failed. For an id without a known answer the
 *   limiter then goes on with the limit's own numbers, as with every overrides function.
 * - At most `maxEntries` answers are kept. Those that were used longest ago go first, and a flood of ids without an
 *   override does not displace ids with one, up to half of the entries.
 *
 * @param query - Gets the limit's name and the canonical id, not the request: an answer is for all requests of an id.
 * @throws {SluiceError} for wrong options.
 */
export function cachedOverrides(query: OverrideQuery, options: CachedOverridesOptions): CachedOverrides {
  if (typeof query !== 'function') {
    const remedy = 'For example cachedOverrides((limit, id) => plans.findByAccount(id), …).';
    throw complaint('ERR_OPTION', { option: 'cachedOverrides(fn)', demand: 'a function', value: query, remedy });
  }
  checkOptions('cachedOverrides', options, ['maxAge', 'maxEntries', 'clock', 'onEvent', 'log']);
  const { maxAge, maxEntries = 10_000, clock = monotonicClock } = options;
  checkClock(clock);
  const notify = notifier<CachedOverridesEvent>(options);
  const cache = new OverrideCache({
    ask: query,
    maxAgeMicros: durationTicks('maxAge', maxAge, MAX_AGE) / TICKS_PER_MICRO,
    maxEntries: wholeNumber('maxEntries', maxEntries, { min: 1, max: 10_000_000 }),
    clock,
    onStale: (stale) => notify(refreshFailed(stale)),
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
