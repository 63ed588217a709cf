import { boundsOf, checkBounds } from '../../rule/at-most.ts';
import type { Duration } from '../../rule/duration.ts';
import { debtOf, FALLING, rateOf, type LimitNumbers, type Numbers } from '../../rule/rate.ts';
import { durationText } from '../../time/duration-text.ts';
import type { Limit } from '../../limits/limit.ts';
import { NUMBERS_ALONE, type LimitParts } from '../../limits/limit-parts.ts';
import { EXACT_ROW } from '../../limits/option.ts';
import { kindOfLimit, type Kind } from '../kind.ts';
import { NUMBER_ROWS, period } from './number-rows.ts';
import { OVERSHOOT_ROW, overshootOf, type Exactness } from './overshoot.ts';

/** The options of a rate: `count` tokens refill every `period`, and a bucket contains at most `burst`. */
export interface Rate extends LimitNumbers, Exactness {
  /**
   * The most tokens that may be taken in any window of a length: `{ 1000: '1h' }`. It changes no decision. Numbers of
   * the limit and of its overrides that allow more are an error: burst + maxDebt + window / T must be at most that
   * number.
   */
  readonly atMost?: Readonly<Record<number, Duration>> | undefined;
}

/** So many tokens come back in each period, evenly, and a full bucket contains the burst. */
export const RATE: Kind<Rate, LimitNumbers> = {
  ...FALLING,
  noun: 'a rate',
  mark: undefined,
  example: "count: 100, period: '1m'",
  options: {
    ...NUMBER_ROWS,
    atMost: {
      about:
        'The most tokens that may be taken in any window of a length, such as 1000: 1h. The numbers of the limit and its overrides must not allow more.',
      value: {
        type: 'bounds',
        window: period('The length of the window, from 1ms to 366 days.'),
      },
    },
    overshoot: OVERSHOOT_ROW,
    exact: EXACT_ROW,
  },
  needed: ['count', 'period'],
  override: {
    options: NUMBER_ROWS,
    needed: ['count', 'period'],
    example: "{ count: 600, period: '180m' }",
    rate: rateOf,
  },
  define(options, { where }) {
    const parts = ratePartsOf(where, options);
    checkBounds(where, parts.rate, debtOf(parts.rate, parts.rate), parts.bounds);
    return parts;
  },
  describe: ({ rate }) => describedRate(rate),
};

/**
 * Validates the options of a rate, and leaves its bounds to the caller.
 *
 * @throws {SluiceError} For the first wrong option.
 */
export function ratePartsOf(where: string, options: Rate): LimitParts {
  const rate = rateOf(where, options);
  const bounds = boundsOf(`${where}.atMost`, options.atMost);
  return { ...NUMBERS_ALONE, rate, bounds, overshoot: overshootOf(where, options) };
}

/** Returns the numbers of a rate for people. */
export function describedRate({ count, periodMs, burst }: Numbers): string {
  return `${count} per ${durationText(periodMs)}, burst ${burst}`;
}

/**
 * Rejects numbers of an id that let more tokens through than `atMost` of its limit allows. Where the limit gives more than its
 * own tokens, all together count.
 *
 * @param where - The path of the numbers in error messages.
 * @param limit - The numbers of the limit itself, its bounds, and its kind.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkAtMost(
  where: string,
  numbers: Numbers,
  limit: Pick<Limit<never>, 'rate' | 'bounds' | 'kind' | 'own'>,
): void {
  const [path, most] = kindOfLimit(limit).links?.most(where, numbers, limit) ?? [where, numbers];
  checkBounds(path, most, debtOf(numbers, limit.rate), limit.bounds);
}
