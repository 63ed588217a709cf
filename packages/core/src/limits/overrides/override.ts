import type { Awaitable } from '../../async/awaitable.ts';
import { complaint } from '../../checks/errors.ts';
import type { Limit } from '../limit.ts';
import { checkOptions, isPlainObject } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { rateOf, type LimitNumbers, type Rate } from '../../rule/rate.ts';

/** Other numbers for one id; `'unlimited'` lets the id through uncounted, `'blocked'` denies it always. */
export type Override = LimitNumbers | 'unlimited' | 'blocked';

/** The numbers that apply to an id, in ticks, or `'unlimited'` or `'blocked'`. */
export type OverrideRate = Rate | 'unlimited' | 'blocked';

/**
 * Returns the numbers that apply to an id of a limit: those of an override, or the limit's own.
 *
 * @param request - The framework's request; `undefined` without HTTP.
 */
export type RateLookup = (limit: Limit<never>, id: string, request: unknown) => Awaitable<OverrideRate>;

const FIELDS = ['burst', 'count', 'period'] as const;

/**
 * Validates an override and converts its numbers to ticks.
 *
 * @param where - The path of the override in error messages: `overrides.Orders['12345678']`.
 * @throws {SluiceError} `ERR_OVERRIDE` for an invalid override; the errors of {@link rateOf} for invalid numbers.
 */
export function overrideRate(where: string, override: Override): OverrideRate {
  if (override === 'unlimited' || override === 'blocked') return override;
  if (!isPlainObject(override)) {
    const demand = "numbers such as { burst: 300, count: 600, period: '180m' }, 'unlimited' or 'blocked'";
    throw complaint('ERR_OVERRIDE', { option: where, demand, value: override });
  }
  checkOptions(where, override, FIELDS, LIMIT_HINTS);
  return rateOf(where, override);
}
