import type { BucketState, Result } from '@sluice/core';
import type { BucketName } from '@sluice/core/store';
import type { UsesDecided } from '../deciding/decide-uses.ts';
import type { DescriptorUse } from './descriptor-uses.ts';
import { CODE, type Code, type CurrentLimit, type DescriptorStatus } from './response.ts';

const PASSES = withoutFigures(CODE.ok, undefined);
const DENIED = withoutFigures(CODE.overLimit, undefined);

/** Returns the status of one descriptor. */
export function descriptorStatus(use: DescriptorUse, decided: UsesDecided): DescriptorStatus {
  if (typeof use === 'string') return use === 'passes' ? PASSES : DENIED;
  if (use.shadow) return PASSES;
  if (use.kind === 'charge' || use.kind === 'refund') {
    const state = stateOf(decided.changed, use);
    return state === undefined ? PASSES : withFigures(CODE.ok, state, state.resetAfterMs);
  }
  const { decision } = decided;
  // Without a result where no store was asked, or Envoy had given up before it answered.
  if (decision?.outcome === 'unavailable' || isLate(decision)) return DENIED;
  const result = decision === null ? undefined : stateOf(decision.results, use);
  return result === undefined ? PASSES : ofResult(result);
}

function isLate(decision: UsesDecided['decision']): boolean {
  return decision?.reason === 'deadline' && decision.results.length === 0;
}

/** Returns the status that matters most of those of one descriptor: of denials the longest, otherwise what has least left. */
export function strictest(statuses: readonly DescriptorStatus[]): DescriptorStatus {
  return statuses.reduce((first, second) => (isStricter(second, first) ? second : first));
}

function isStricter(status: DescriptorStatus, other: DescriptorStatus): boolean {
  if (status.code !== other.code) return status.code === CODE.overLimit;
  if (status.code === CODE.overLimit) return (status.untilResetMs ?? Infinity) > (other.untilResetMs ?? Infinity);
  if (status.currentLimit === undefined || other.currentLimit === undefined) return status.currentLimit !== undefined;
  return status.remaining < other.remaining;
}

/** What is known of the bucket of a use. */
function stateOf<State extends BucketName>(states: readonly State[], { limit, id }: BucketName): State | undefined {
  for (const state of states) if (state.limit === limit && state.id === id) return state;
  return undefined;
}

function ofResult(result: Result): DescriptorStatus {
  const { allowed, hidden, retryAfterMs, resetAfterMs } = result;
  const code = allowed ? CODE.ok : CODE.overLimit;
  // The wait is needed for Retry-After, even if the limit is hidden.
  if (hidden) return allowed ? PASSES : withoutFigures(code, retryAfterMs);
  return withFigures(code, result, allowed ? resetAfterMs : retryAfterMs);
}

function withFigures(code: Code, state: BucketState, untilResetMs: number): DescriptorStatus {
  return { code, currentLimit: currentLimitOf(state), remaining: state.remaining, untilResetMs };
}

function withoutFigures(code: Code, untilResetMs: number | undefined): DescriptorStatus {
  return { code, currentLimit: undefined, remaining: 0, untilResetMs };
}

const SECOND = 1000;
const DAY = 86_400_000;

/** The units of the protocol that have one length. */
const UNITS: ReadonlyMap<number, number> = new Map([
  [SECOND, 1],
  [60 * SECOND, 2],
  [3600 * SECOND, 3],
  [DAY, 4],
  [7 * DAY, 7],
]);
const MONTH = 5;
const YEAR = 6;

function currentLimitOf({ limit, count, burst, periodMs }: BucketState): CurrentLimit {
  const unit = UNITS.get(periodMs) ?? unitOfDays(periodMs / DAY);
  return { name: limit, requestsPerUnit: unit === 0 ? burst : count, unit };
}

/** The calendar months and years of quotas. */
function unitOfDays(days: number): number {
  if (days >= 28 && days <= 31) return MONTH;
  return days >= 365 && days <= 366 ? YEAR : 0;
}
