import { complaint, SluiceError } from '../../checks/errors.ts';
import { checkBoolean, checkOptions, wholeNumber } from '../../checks/options.ts';
import { LIMIT_HINTS } from '../../checks/peer-names.ts';
import { MAX_TOKENS, plainNumbers, rateOf, type LimitNumbers, type Numbers } from '../../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../../rule/ticks.ts';
import { durationText } from '../../time/duration-text.ts';
import type { Limit } from '../../limits/limit.ts';
import type { CountedNumbers } from '../kind.ts';
import { checkFraction, type OptionRow, type OptionRows, type OptionTable } from '../../limits/option.ts';
import { NUMBER_ROWS } from '../rate/number-rows.ts';
import { termsOf, type BorrowTerms } from './terms.ts';

/** How a limit borrows tokens from a pool when its own are used up. */
export interface Borrow {
  /** The name of the pool: a limit with the key `everyone()`, which does not borrow itself. */
  readonly from: string;
  /** The most that one id gets, own and borrowed tokens together: at least the limit's own numbers. */
  readonly ceiling: LimitNumbers;
  /**
   * Whether clients share the rest of the pool by their weights. If false, the client with the most requests gets the
   * most. Default: true.
   */
  readonly fair?: boolean | undefined;
  /**
   * The part of an id in the rest of the pool, relative to other ids: a number above 0, or a function that returns it.
   * It is used only with `fair`, and a function is called only when the id has too few own tokens. If a function
   * returns anything else, such as a promise, the weight is 1, with an event `callback-failed`. Default: 1.
   */
  readonly weight?: number | ((id: string) => number) | undefined;
  /**
   * The largest number of ids without an override of their own, a whole number from 1 to 10⁹. Default: the number for
   * which the rate of the pool is sufficient, and at least one.
   */
  readonly tenants?: number | undefined;
}

/** What an override changes about borrowing. */
export interface BorrowOverride {
  /** Default: the ceiling of the limit. The ceiling must not be below the override's own numbers. */
  readonly ceiling?: LimitNumbers | undefined;
  /** A number above 0. Default: the weight of the limit. */
  readonly weight?: number | undefined;
}

const { burst: BURST, count: COUNT, period: PERIOD_ROW } = NUMBER_ROWS;
const CEILING_ROWS: OptionRows = { burst: BURST, count: COUNT, period: PERIOD_ROW };

/** The demand of `tenants`. */
const TENANTS = { type: 'whole number', min: 1, max: MAX_TOKENS, example: '100' } as const;

/** The demand of `weight`. */
export const WEIGHT = {
  type: 'fraction',
  demand: 'a number above 0, or a function that returns one',
  example: '3',
  remedy:
    'For example weight: 3 for three times the part of others. To lend nothing to an id, set its ceiling to its own numbers.',
} as const;

const CEILING: OptionRow = {
  about: 'The most that one id gets, own and borrowed tokens together: at least the numbers beside borrow.',
  value: { type: 'options', rows: CEILING_ROWS, needed: ['count', 'period'] },
};

/** The rows of `borrow` of a limit. */
export const BORROW_ROWS: OptionTable<Borrow> = {
  from: { about: 'The pool: a limit with the idFormat everyone.', value: { type: 'name of a limit' } },
  ceiling: CEILING,
  fair: {
    about: 'Whether clients share the rest of the pool by their weights. Default: true.',
    value: { type: 'switch' },
  },
  weight: weightRow('Default: 1.'),
  tenants: {
    about:
      'The largest number of ids without an override. Default: the number for which the rate of the pool is sufficient.',
    value: TENANTS,
  },
};

/** The rows of `borrow` of an override. */
export const BORROW_CHANGE_ROWS: OptionTable<BorrowOverride> = {
  ceiling: CEILING,
  weight: weightRow('Default: the weight of the limit.'),
};

function weightRow(byDefault: string): OptionRow {
  const about = `The part of an id in the rest of the pool, relative to other ids: a number above 0. ${byDefault}`;
  return { about, value: WEIGHT };
}

const FIELDS = Object.keys(BORROW_ROWS);
const CEILING_FIELDS = Object.keys(CEILING_ROWS);
const EXAMPLE = "borrow: { from: 'Pool', ceiling: { count: 400, period: '1s' } }";

/**
 * Validates how a limit borrows. Does not validate the pool.
 *
 * @param where - The path in error messages: `limits.PerUser`.
 * @param rate - The limit's own numbers.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_DURATION` for wrong options, `ERR_LIMIT` for a
 * ceiling below the limit's own numbers.
 */
export function borrowTermsOf(where: string, rate: Numbers, definition: unknown): BorrowTerms {
  const option = `${where}.borrow`;
  checkOptions(option, definition, FIELDS, LIMIT_HINTS, EXAMPLE);
  const { from, ceiling, fair = true, weight = 1, tenants } = definition as Borrow;
  if (typeof from !== 'string') {
    throw complaint('ERR_OPTION', {
      option: `${option}.from`,
      demand: 'the name of a limit',
      value: from,
      remedy: `For example ${EXAMPLE}.`,
    });
  }
  checkBoolean(`${option}.fair`, fair);
  if (typeof weight !== 'function') checkFraction(`${option}.weight`, weight, WEIGHT);
  if (tenants !== undefined) wholeNumber(`${option}.tenants`, tenants, TENANTS);
  return { from, ceiling: ceilingAbove(`${option}.ceiling`, rate, ceiling), fair, weight, tenants };
}

/**
 * Rejects overrides above the ceiling of their limit.
 *
 * @throws {SluiceError} `ERR_OVERRIDE`.
 */
export function checkOverrides(limit: Limit<never>, numbers: Iterable<CountedNumbers>): void {
  const { ceiling } = termsOf(limit);
  for (const { rate } of numbers)
    if (rate.borrow?.ceiling === undefined && !isAtLeast(ceiling, rate)) throw aboveCeiling(limit, ceiling);
}

function aboveCeiling(limit: Limit<never>, ceiling: Numbers): SluiceError {
  const { burst, count, periodMs } = ceiling;
  return new SluiceError(
    'ERR_OVERRIDE',
    `has an override above the ceiling of the limit (burst ${burst}, ${count} per ${durationText(periodMs)}). ` +
      'Give the override a ceiling of its own, borrow: { ceiling: { count, period } }, or raise that of the limit.',
    { path: `overrides.${limit.name}` },
  );
}

/**
 * Validates what an override changes about borrowing.
 *
 * @param where - The path in error messages: `overrides.PerUser['12345678'].borrow`.
 * @throws {SluiceError} As {@link borrowTermsOf}.
 */
export function borrowChangeOf(where: string, rate: Numbers, override: BorrowOverride): NonNullable<Numbers['borrow']> {
  checkOptions(where, override, ['ceiling', 'weight'], LIMIT_HINTS, "{ ceiling: { count: 400, period: '1s' } }");
  const { ceiling, weight } = override;
  if (weight !== undefined) checkFraction(`${where}.weight`, weight, WEIGHT);
  return { ceiling: ceiling === undefined ? undefined : ceilingAbove(`${where}.ceiling`, rate, ceiling), weight };
}

function ceilingAbove(option: string, rate: Numbers, numbers: unknown): Numbers {
  checkOptions(option, numbers, CEILING_FIELDS, LIMIT_HINTS, "ceiling: { count: 400, period: '1s' }");
  const ceiling = rateOf(option, numbers as LimitNumbers);
  if (isAtLeast(ceiling, rate)) return ceiling;
  const { burst, count, periodMs } = rate;
  throw complaint('ERR_LIMIT', {
    option,
    demand: `at least the assured burst, ${burst}, and the assured rate, ${count} per ${durationText(periodMs)}`,
    value: `burst ${ceiling.burst}, ${ceiling.count} per ${durationText(ceiling.periodMs)}`,
    remedy: 'A ceiling counts own and borrowed tokens together. Raise it, or lower the numbers of the limit.',
  });
}

/** Whether a bucket with the first numbers allows everything that a bucket with the second allows. */
function isAtLeast(one: Numbers, other: Pick<Numbers, 'burst' | 'emissionIntervalTicks'>): boolean {
  return one.burst >= other.burst && one.emissionIntervalTicks <= other.emissionIntervalTicks;
}

/**
 * Returns the ceiling of an id. A ceiling below the numbers of an overrides function is raised to them, because a
 * client must never be denied its assured tokens.
 */
export function ceilingOf(terms: BorrowTerms, rate: Numbers): Numbers {
  const ceiling = rate.borrow?.ceiling ?? terms.ceiling;
  if (isAtLeast(ceiling, rate)) return ceiling;
  const burst = Math.max(ceiling.burst, rate.burst);
  const faster = ceiling.emissionIntervalTicks < rate.emissionIntervalTicks ? ceiling : rate;
  const { count, periodMs, emissionIntervalTicks } = faster;
  const toleranceTicks = Math.min(burst * emissionIntervalTicks, MAX_TOLERANCE_TICKS);
  return plainNumbers({ burst, count, periodMs, emissionIntervalTicks, toleranceTicks, kind: rate.kind });
}
