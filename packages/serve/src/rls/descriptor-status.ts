import type { BucketState, Result } from '@sluice/core';
import type { UsesDecided } from '../deciding/decide-uses.ts';
import type { DescriptorUse } from './descriptor-uses.ts';
import { CODE, type CurrentLimit, type DescriptorStatus } from './response.ts';

const PASSES: DescriptorStatus = { code: CODE.ok };
const DENIED: DescriptorStatus = { code: CODE.overLimit };

/** Returns the status of one descriptor. */
export function descriptorStatus(use: DescriptorUse, { decision, changed, tooLarge }: UsesDecided): DescriptorStatus {
  if (typeof use === 'string') return use === 'passes' ? PASSES : DENIED;
  if (use.shadow) return PASSES;
  const isBucket = ({ limit, id }: { readonly limit: string; readonly id: string }): boolean =>
    limit === use.limit && id === use.id;
  if (use.kind === 'charge' || use.kind === 'refund') {
    const state = changed.find(isBucket);
    return state === undefined ? PASSES : { ...PASSES, ...figuresOf(state), untilResetMs: state.resetAfterMs };
  }
  if (tooLarge.some(isBucket) || decision?.outcome === 'unavailable') return DENIED;
  const result = decision?.results.find(isBucket);
  return result === undefined ? PASSES : ofResult(result);
}

function ofResult(result: Result): DescriptorStatus {
  const { allowed, hidden, retryAfterMs, resetAfterMs } = result;
  const code = allowed ? CODE.ok : CODE.overLimit;
  // The wait is needed for Retry-After, even if the limit is hidden.
  if (hidden) return allowed ? PASSES : { code, untilResetMs: retryAfterMs };
  return { code, ...figuresOf(result), untilResetMs: allowed ? resetAfterMs : retryAfterMs };
}

function figuresOf(state: BucketState): Pick<DescriptorStatus, 'currentLimit' | 'remaining'> {
  return { currentLimit: currentLimitOf(state), remaining: state.remaining };
}

const SECOND = 1000;
const DAY = 86_400_000;

/** The units of the protocol that have one length. */
const UNITS: ReadonlyMap<number, number> = new Map([
  [SECOND, 1],
  [60 * SECOND, 2],
  [3600 * SECOND, 3],
  [DAY, 4],
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
