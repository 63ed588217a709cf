import type { Awaitable } from '../../async/awaitable.ts';
import { complaint, shownText, SluiceError } from '../../checks/errors.ts';
import type { Limit } from '../limit.ts';
import { CONCURRENCY_OPTIONS, concurrencyRateOf } from '../concurrency.ts';
import { QUOTA_OPTIONS } from '../quota.ts';
import { checkOptions, isPlainObject, type Hints } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { quotaRateOf, rateOf, type Counted, type LimitNumbers, type Rate } from '../../rule/rate.ts';
import { borrowChangeOf, type BorrowOverride } from '../borrowing.ts';

/** Other numbers for one id. */
export interface OverrideNumbers extends LimitNumbers {
  /** Another ceiling or weight, for an override of a limit that borrows. */
  readonly borrow?: BorrowOverride | undefined;
  readonly concurrency?: undefined;
}

/** Another count of a quota for one id. The calendar stays that of the limit. */
export interface QuotaOverride {
  /** How many tokens there are in each period, a whole number from 1 to 10⁹. */
  readonly count: number;
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly borrow?: undefined;
  readonly concurrency?: undefined;
}

/** Another number of slots of a concurrency limit for one id. */
export interface ConcurrencyOverride {
  /** How many requests of cost 1 may be in progress at the same time, a whole number from 1 to 1,000,000. */
  readonly concurrency: number;
  readonly count?: undefined;
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly borrow?: undefined;
}

/**
 * Other numbers for one id; `'unlimited'` lets the id through uncounted, `'blocked'` denies it always. The numbers must be
 * of the same kind as those of the limit: `count` and `period` for a rate, `count` alone for a quota, `concurrency` for a
 * concurrency limit.
 */
export type Override = OverrideNumbers | QuotaOverride | ConcurrencyOverride | 'unlimited' | 'blocked';

/** The numbers that apply to an id, in ticks, or `'unlimited'` or `'blocked'`. */
export type OverrideRate = Rate | 'unlimited' | 'blocked';

/**
 * Returns the numbers that apply to an id of a limit: those of an override, or the limit's own.
 *
 * @param request - The framework's request; `undefined` without HTTP.
 */
export type RateLookup = (limit: Limit<never>, id: string, request: unknown) => Awaitable<OverrideRate>;

const FIELDS = ['burst', 'count', 'period', 'maxDebt', 'maxWait', 'borrow', 'concurrency'] as const;
/** Names that are no options of an override, with what to write instead. */
export const OVERRIDE_HINTS: Hints = {
  ...LIMIT_HINTS,
  ...hintsOf(QUOTA_OPTIONS, 'an override of a quota changes its `count` alone'),
  ...hintsOf(CONCURRENCY_OPTIONS, 'an override of a concurrency limit changes its `concurrency` alone'),
  ...hintsOf(['load'], 'its overrides are `unlimited` or `blocked`'),
};

function hintsOf(names: readonly string[], why: string): Hints {
  return Object.fromEntries(names.map((name) => [name, `\`${name}\` belongs to the limit: ${why}.`]));
}

/**
 * Validates an override and converts its numbers to ticks.
 *
 * @param where - The path of the override in error messages: `overrides.Orders['12345678']`.
 * @throws {SluiceError} `ERR_OVERRIDE` for an invalid override; the errors of {@link rateOf} for invalid numbers.
 */
export function overrideRate(where: string, override: Override): OverrideRate {
  if (override === 'unlimited' || override === 'blocked') return override;
  if (!isPlainObject(override)) {
    const demand = "numbers such as { count: 600, period: '180m' } or { concurrency: 20 }, 'unlimited' or 'blocked'";
    throw complaint('ERR_OVERRIDE', { option: where, demand, value: override });
  }
  checkOptions(where, override, FIELDS, OVERRIDE_HINTS);
  if (hasOnly(override, 'concurrency')) return concurrencyRateOf(where, override as ConcurrencyOverride);
  if (hasOnly(override, 'count')) return quotaRateOf(where, override as QuotaOverride);
  const { borrow, ...numbers } = override as OverrideNumbers;
  if (numbers.concurrency !== undefined) throw mixedKinds(where);
  if (numbers.count === undefined && !Object.hasOwn(override, 'count')) throw withoutCount(where);
  const rate = rateOf(where, numbers);
  return borrow === undefined ? rate : { ...rate, borrow: borrowChangeOf(`${where}.borrow`, rate, borrow) };
}

/** Whether an override has only one option, which shows its kind. */
function hasOnly(override: Exclude<Override, string>, option: (typeof FIELDS)[number]): boolean {
  return FIELDS.every((name) => (override[name] !== undefined) === (name === option));
}

function mixedKinds(where: string): SluiceError {
  const message =
    'has `concurrency` beside other numbers: for a concurrency limit it must have `concurrency` alone, and for another limit ' +
    'no `concurrency`. For example { concurrency: 20 }.';
  return new SluiceError('ERR_OVERRIDE', `\`${shownText(where, 300)}\` ${message}`);
}

function withoutCount(where: string): SluiceError {
  const message =
    'must have the numbers of its limit: `count` and `period` for a rate, `count` for a quota, `concurrency` for a concurrency ' +
    "limit. For example { count: 600, period: '180m' }.";
  return new SluiceError('ERR_OVERRIDE', `\`${shownText(where, 300)}\` ${message}`);
}

/**
 * Rejects the numbers of an override that are of another kind than those of its limit.
 *
 * @param where - The path of the override in error messages.
 * @throws {SluiceError} `ERR_OVERRIDE`.
 */
export function checkKind(where: string, rate: OverrideRate, limit: Pick<Limit<never>, 'rate'>): void {
  if (typeof rate !== 'string' && rate.counts !== limit.rate.counts) throw otherKind(where, limit);
}

const NUMBERS: Readonly<Record<Counted | 'rate', string>> = {
  rate: "`count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }",
  quota: '`count` alone, because the limit is a quota. For example { count: 50000 }',
  slots: '`concurrency` alone, because it is a concurrency limit. For example { concurrency: 20 }',
  load: 'no numbers, because it is a load limit. Its overrides are `unlimited` or `blocked`',
};

function otherKind(where: string, { rate }: Pick<Limit<never>, 'rate'>): SluiceError {
  return new SluiceError('ERR_OVERRIDE', `\`${shownText(where, 300)}\` must have ${NUMBERS[rate.counts ?? 'rate']}.`);
}
