// The room fields: what fields of a response teach, a file for each dialect.
import { anthropic } from './anthropic.ts';
import { amountIn } from './figures.ts';
import { fieldOf, type FieldSource } from './field-source.ts';
import { secondaryWaitMs } from './github.ts';
import type { Dialect, Lesson } from './lesson.ts';
import { openai } from './openai.ts';
import { rateLimitDictionary } from './rate-limit-dictionary.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import { rateLimitList } from './rate-limit-list.ts';
import { providersMs, retryAfterIn } from './retry-after.ts';
import { xRateLimit } from './x-rate-limit.ts';

/** What an answer teaches about the limits of its provider. */
export interface Teaching {
  readonly lessons: readonly Lesson[];
  /** Set if the provider has denied the call by a limit. */
  readonly denied: Denied | undefined;
}

/** A denial by the provider. */
export interface Denied {
  /** How long to wait, in milliseconds from 0 to `Infinity`. Undefined if it is not said. */
  readonly waitMs: number | undefined;
}

/** Every family of fields that is read. */
const DIALECTS: readonly Dialect[] = [
  rateLimitList,
  rateLimitDictionary,
  rateLimitFields,
  xRateLimit,
  openai,
  anthropic,
];

/**
 * Reads what an answer teaches.
 *
 * @param nowMs - The time in milliseconds since 1970, for an answer without a `Date`: dates are measured by the clock that
 * has made them.
 */
export function taughtBy(status: number, fields: FieldSource, nowMs: number): Teaching {
  const sentMs = providersMs(fields, nowMs);
  // A cached answer reports what was left when it was made.
  const isCached = (amountIn(fieldOf(fields, 'age')) ?? 0) > 0;
  const lessons = isCached ? [] : DIALECTS.flatMap((dialect) => dialect.read(fields, sentMs));
  const denied = denialIn(status, fields, lessons, sentMs);
  // A denial says itself how long to wait: Retry-After takes precedence (draft 11, "Client Behavior").
  return { lessons: denied === undefined ? lessons : lessons.filter(({ remaining }) => remaining > 0), denied };
}

/** Statuses that with a Retry-After are due to a limit, or to a load that is treated like one. GitHub also answers 403. */
const DENIALS: ReadonlySet<number> = new Set([403, 429, 503, 529]);

function denialIn(status: number, fields: FieldSource, lessons: readonly Lesson[], nowMs: number): Denied | undefined {
  if (!DENIALS.has(status)) return undefined;
  const waitMs = retryAfterIn(fields, nowMs);
  if (waitMs !== undefined) return { waitMs };
  const usedUp = lessons.filter(({ remaining }) => remaining === 0);
  if (status !== 429) return status === 403 && usedUp.length > 0 ? { waitMs: latestOf(usedUp) } : undefined;
  return { waitMs: latestOf(usedUp) ?? secondaryWaitMs(fields) };
}

function latestOf(lessons: readonly Lesson[]): number | undefined {
  const waits = lessons.flatMap(({ waitMs }) => waitMs ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}
