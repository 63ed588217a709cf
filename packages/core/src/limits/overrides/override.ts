import type { Awaitable } from '../../async/awaitable.ts';
import { complaint } from '../../checks/errors.ts';
import type { Limit } from '../limit.ts';
import { checkOptions, isPlainObject } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { rateOf, type LimitNumbers, type Rate } from '../../rule/rate.ts';

/** Other numbers for one id; `'unlimited'` lets the id through, `'blocked'` always refuses it. */
export type Override = LimitNumbers | 'unlimited' | 'blocked';

/** What holds for an id, on the time grid. */
export type OverrideRate = Rate | 'unlimited' | 'blocked';

/**
 * Gives the numbers of an id of a limit: an override's, or the limit's own.
 *
 * @param request - `undefined` where there is none.
 */
export type RateLookup = (limit: Limit<never>, id: string, request: unknown) => Awaitable<OverrideRate>;

const FIELDS = ['burst', 'count', 'period'] as const;

/**
 * Puts an override on the time grid.
 *
 * @param where - How a message calls the override: `overrides.Orders['12345678']`.
 * @throws {SluiceError} `ERR_OVERRIDE` for what is no override; what {@link rateOf} throws for bad numbers.
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
