import { Decision, type Result } from '../../decision/decision.ts';
import { ceilToSeconds } from '../../rule/ticks.ts';
import type { ResponseFields } from './dialect.ts';

/** The figures of the strictest limit, for dialects that report only one limit. */
export interface SingleFigures {
  readonly burst: number;
  readonly remaining: number;
  /** Seconds: in a denial until the same request passes, otherwise until the bucket is full. */
  readonly resetSeconds: number;
}

export function singleFigures(decision: Decision, retryAfter: number): SingleFigures {
  const { burst, remaining, resetAfterMs } = strictestResult(decision);
  return { burst, remaining, resetSeconds: decision.allowed ? Math.ceil(resetAfterMs / 1000) : retryAfter };
}

/**
 * Whether the fields that are set must be kept: another limiter set stricter figures. A denial always sets its own.
 *
 * @param present - The remaining tokens that are already set.
 */
export function staysStricter(decision: Decision, present: number | string | readonly string[] | undefined): boolean {
  return present !== undefined && decision.allowed && Number(present) <= decision.remaining;
}

/** Formats `RateLimit-Policy` of the drafts without names: every limit as `burst;w=seconds`. */
function quotaPolicies(decision: Decision): string {
  return Decision.answerOf(decision)
    .batch.map(({ rate }) => `${rate.burst};w=${Math.max(1, ceilToSeconds(rate.toleranceTicks))}`)
    .join(', ');
}

/** Appends the quota policies to those that are already set, unless these are of a dialect with names. */
export function appendQuotaPolicies(decision: Decision, fields: ResponseFields): void {
  const present = fields.getField('RateLimit-Policy');
  const ours = quotaPolicies(decision);
  if (present === undefined) fields.setField('RateLimit-Policy', ours);
  else if (!String(present).includes('"')) fields.setField('RateLimit-Policy', `${String(present)}, ${ours}`);
}

function strictestResult({ results, limit, id }: Decision): Result {
  return results.find((result) => result.limit === limit && result.id === id)!;
}
