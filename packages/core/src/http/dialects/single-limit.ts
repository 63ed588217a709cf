import type { Dialect, FieldTimes, ResponseFields } from './dialect.ts';
import type { Decided } from '../../decision/decided.ts';
import type { Result } from '../../decision/result.ts';
import type { Transaction } from '../../decision/transaction.ts';
import type { Numbers } from '../../rule/rate.ts';
import { ceilToSeconds } from '../../rule/ticks.ts';
import { fitting, MOST_IN_FIELD } from './fitting.ts';
import { membersOf } from './list-members.ts';
import { withSelected } from '../selected-results.ts';

/** draft-ietf-httpapi-ratelimit-headers-07: the figures of the strictest limit in one field. */
export const draft7: Dialect = {
  names: ['RateLimit', 'RateLimit-Policy'],
  write: ofWindows((decision, fields, times) => {
    const present = fields.getField('ratelimit');
    // The field contains a dialect with names: two dialects in one field would be unreadable.
    if (present !== undefined && String(present).includes('"')) return;
    if (staysStricter(decision, /remaining=([0-9]+)/.exec(String(present))?.[1]))
      return appendPolicies(decision, fields, /limit=([0-9]+)/.exec(String(present))?.[1]);
    const { burst, remaining, resetSeconds } = singleFigures(decision, times);
    appendPolicies(decision, fields, burst);
    fields.setField('RateLimit', `limit=${burst}, remaining=${remaining}, reset=${resetSeconds}`);
  }),
};

/** draft-ietf-httpapi-ratelimit-headers-06: the figures of the strictest limit, each in a field. */
export const draft6: Dialect = {
  names: ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  write: ofWindows((decision, fields, times) => {
    if (staysStricter(decision, fields.getField('ratelimit-remaining')))
      return appendPolicies(decision, fields, fields.getField('ratelimit-limit'));
    const { burst, remaining, resetSeconds } = singleFigures(decision, times);
    appendPolicies(decision, fields, burst);
    fields.setField('RateLimit-Limit', String(burst));
    fields.setField('RateLimit-Remaining', String(remaining));
    fields.setField('RateLimit-Reset', String(resetSeconds));
  }),
};

/**
 * The fields that GitHub and many others use: the figures of the strictest limit, with the reset in seconds since 1970.
 */
export const legacy: Dialect = {
  names: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'],
  write: ofWindows((decision, fields, times) => {
    if (staysStricter(decision, fields.getField('x-ratelimit-remaining'))) return;
    const { burst, remaining, resetSeconds } = singleFigures(decision, times);
    fields.setField('X-RateLimit-Limit', String(burst));
    fields.setField('X-RateLimit-Remaining', String(remaining));
    fields.setField('X-RateLimit-Reset', String(Math.ceil(times.time.wallNow() / 1000) + resetSeconds));
  }),
};

/**
 * Leaves the concurrency limits out of an allowed decision. These dialects describe windows, and a client would take a
 * number of slots for a number of requests until the reset. In a denial the reset is Retry-After, which is right for slots.
 */
function ofWindows(write: Dialect['write']): Dialect['write'] {
  return (decision, fields, times) => {
    const counts = decision.allowed && decision.batch.some(isHeld);
    const reported = counts ? withSelected(decision, (_, transaction) => !isHeld(transaction)) : decision;
    if (reported !== null) write(reported, fields, times);
  };
}

function isHeld({ rate }: Transaction): boolean {
  return rate.kind.level === 'held';
}

/** The figures of the strictest limit, for dialects that report only one limit. */
interface SingleFigures {
  readonly burst: number;
  readonly remaining: number;
  /** Seconds: in a denial until the same request passes, otherwise until the bucket is full. */
  readonly resetSeconds: number;
}

function singleFigures(decision: Decided, { retryAfter, queuedMs }: FieldTimes): SingleFigures {
  const { burst, remaining, resetAfterMs } = strictestResult(decision);
  const resetMs = Math.max(0, resetAfterMs - queuedMs);
  return { burst, remaining, resetSeconds: decision.allowed ? Math.ceil(resetMs / 1000) : retryAfter };
}

/**
 * Whether the fields that are set must be kept: another limiter set stricter figures. A denial always sets its own.
 *
 * @param present - The remaining tokens that are already set.
 */
function staysStricter(decision: Decided, present: number | string | readonly string[] | undefined): boolean {
  return present !== undefined && decision.allowed && Number(present) <= decision.remaining;
}

/** A limit in `RateLimit-Policy` of the drafts without names: `burst;w=seconds`. */
interface WindowPolicy {
  readonly text: string;
  readonly denied: boolean;
}

/** Every limit with a window. */
function windowPolicies(decision: Decided): WindowPolicy[] {
  return decision.results.flatMap((result, i) => {
    const transaction = decision.batch[i]!;
    if (isHeld(transaction)) return [];
    return [{ text: `${result.burst};w=${windowSeconds(transaction.rate, result)}`, denied: !result.allowed }];
  });
}

/** The time in which an empty bucket fills; for a quota the length of the running period. */
function windowSeconds({ toleranceTicks, kind }: Numbers, { periodMs }: Result): number {
  return kind.level !== 'falls' ? Math.ceil(periodMs / 1000) : Math.max(1, ceilToSeconds(toleranceTicks));
}

/**
 * Appends the quota policies to those that are already set, unless these are of a dialect with names. Where not all fit,
 * that of the figures in the other fields comes first, then those that denied.
 *
 * @param reported - The quota of these figures.
 */
function appendPolicies(decision: Decided, fields: ResponseFields, reported: unknown): void {
  const present = fields.getField('ratelimit-policy');
  const ours = windowPolicies(decision);
  if (ours.length === 0 || (present !== undefined && String(present).includes('"'))) return;
  const theirs = membersOf(String(present ?? '')).map((text) => ({ text, denied: false }));
  const fit = fitting([...theirs, ...ours], {
    most: MOST_IN_FIELD,
    rankOf: ({ text, denied }) => (text.startsWith(`${String(reported)};`) ? 0 : denied ? 1 : 2),
    textsOf: ({ text }) => [text],
  });
  fields.setField('RateLimit-Policy', fit.map(({ text }) => text).join(', '));
}

function strictestResult({ results, limit, id }: Decided): Result {
  return results.find((result) => result.limit === limit && result.id === id)!;
}
