import { CALENDAR_UNITS, MOST_TOKENS_PER, type CalendarUnit } from '../../calendar/calendar.ts';
import { complaint } from '../../checks/errors.ts';
import { wholeNumber } from '../../checks/options.ts';
import { countingRate, type NumbersKind, type Numbers } from '../../rule/rate.ts';
import { NUMBERS_ALONE } from '../../limits/limit-parts.ts';
import { EXACT_ROW, type OptionRow } from '../../limits/option.ts';
import type { Kind } from '../kind.ts';
import { limitCalendarOf, type AnchorDate } from './limit-calendar.ts';
import { periodLeft } from './named-periods.ts';
import { QuotaPart } from './quota-warnings.ts';

/** The options of a quota: `count` tokens in each calendar period, which all come back at its end. */
export interface Quota {
  /**
   * How many tokens there are in each period, a whole number from 1: to 10¹² per month and year, and to 1,000 for each
   * millisecond of shorter periods, such as 8.64 × 10¹⁰ per day and 10⁶ per second.
   */
  readonly count: number;
  /** The calendar period after which all tokens come back. A week begins on Monday. */
  readonly per: CalendarUnit;
  /** The time zone of the calendar, such as `'Europe/Berlin'`. Default: UTC. */
  readonly timeZone?: string | undefined;
  /**
   * The day and time from which periods are counted, for billing cycles: 31 January gives 28 February and 31 March. A
   * function is called with each canonical id. Default: the first day of a month and a year, Monday, 00:00.
   */
  readonly anchor?: AnchorDate | ((id: string) => AnchorDate) | undefined;
  /**
   * Parts of the quota at which an event `quota-warning` is emitted, each above 0 and at most 1, such as `[0.8, 1]`.
   * Default: none.
   */
  readonly warnAt?: readonly number[] | undefined;
  /** A quota is always exact. */
  readonly exact?: true | undefined;
}

/** Another count of a quota for one id. The calendar stays that of the limit. */
export interface QuotaOverride {
  /** How many tokens there are in each period, a whole number as in the limit. */
  readonly count: number;
}

const MAX_COUNT = MOST_TOKENS_PER.year;
const COUNT = {
  about: 'How many tokens come back every period.',
  value: { type: 'whole number', min: 1, max: MAX_COUNT, example: '10000' },
  check: checkedCount,
} as const satisfies OptionRow;

const TOKENS_OF_A_PERIOD: NumbersKind = { name: 'quota', level: 'resets', size: 'count' };

/** So many tokens in each period of a calendar, which all come back at its end. */
export const QUOTA: Kind<Quota, QuotaOverride> = {
  ...TOKENS_OF_A_PERIOD,
  noun: 'a quota',
  mark: 'per',
  example: "per: 'month'",
  options: {
    exact: EXACT_ROW,
    count: COUNT,
    per: {
      about:
        'The calendar period at whose end all tokens come back. It makes the limit a quota: count tokens for each period.',
      value: { type: 'choice', choices: CALENDAR_UNITS, example: 'month' },
    },
    timeZone: {
      about: 'The time zone of the calendar of a quota. Default: UTC.',
      value: { type: 'text', example: 'Europe/Berlin' },
    },
    anchor: {
      about: 'The date from which the periods of a quota are counted: 2026-01-31 gives 28 February and 31 March.',
      value: { type: 'text', pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, example: '2026-01-31' },
    },
    warnAt: {
      about: 'Thresholds, as parts of the quota, at which an event is emitted, such as [0.8, 1].',
      value: { type: 'parts' },
    },
  },
  needed: ['count', 'per'],
  override: {
    options: { count: COUNT },
    needed: ['count'],
    example: '{ count: 50000 }',
    rate: rateOf,
    check: (where, { count }, { periods }) => periods && checkSize(where, count, periods.unit),
  },
  define(options, limit) {
    const rate = rateOf(limit.where, options);
    const periods = limitCalendarOf(options, limit);
    checkSize(limit.where, options.count, periods.unit);
    const warnAt = options.warnAt === undefined ? [] : checkedThresholds(`${limit.where}.warnAt`, options.warnAt);
    return { ...NUMBERS_ALONE, rate, periods, own: warnAt };
  },
  describe: ({ rate, periods }) => `${rate.count} per calendar ${periods!.unit}`,
  checkStore(store, { name }) {
    if (store.traits?.periods === true) return;
    throw complaint('ERR_OPTION', {
      option: 'store',
      demand: `a store with the trait \`periods\`, because limit "${name}" is a quota`,
      value: store,
      remedy: 'Every store of Sluice has it. For one of your own, see CalendarPeriod in docs/writing-a-store.md.',
    });
  },
  bucket: ({ periods }, id) => ({ calendar: periods!.of(id).name }),
  provides: { periodLeft },
  part: ({ emit }) => new QuotaPart(emit),
};

/**
 * Rejects more tokens than a store can count in a period.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
function checkSize(where: string, count: number, unit: CalendarUnit): void {
  const most = MOST_TOKENS_PER[unit];
  if (count <= most) return;
  const demand = `at most ${most} per ${unit}`;
  const remedy = `For example count: ${most}. For more, let a token stand for more, in all costs too.`;
  throw complaint('ERR_OPTION', { option: `${where}.count`, demand, value: count, remedy });
}

function checkedCount(option: string, value: unknown): number {
  const isTooLarge = typeof value === 'number' && value > MAX_COUNT;
  const remedy = isTooLarge
    ? 'Let a token stand for more, in all costs too.'
    : 'For example count: 10000. For no limit leave the limit out.';
  return wholeNumber(option, value, { min: 1, max: MAX_COUNT, remedy });
}

function rateOf(where: string, { count }: QuotaOverride): Numbers {
  return countingRate(TOKENS_OF_A_PERIOD, checkedCount(`${where}.count`, count));
}

/** Returns the thresholds in ascending order, each once. */
function checkedThresholds(option: string, value: unknown): readonly number[] {
  const isRight = (part: unknown): boolean => typeof part === 'number' && part > 0 && part <= 1;
  if (Array.isArray(value) && value.every(isRight)) {
    return [...new Set(value as readonly number[])].toSorted((a, b) => a - b);
  }
  const demand = 'an array of numbers above 0, at most 1';
  throw complaint('ERR_OPTION', { option, demand, value, remedy: 'For example warnAt: [0.8, 1].' });
}
