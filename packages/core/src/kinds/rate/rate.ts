import { boundsOf, checkBounds, type Bound } from '../../rule/at-most.ts';
import type { Duration } from '../../rule/duration.ts';
import { debtOf, FALLING, rateOf, type LimitNumbers, type Numbers } from '../../rule/rate.ts';
import { durationText } from '../../time/duration-text.ts';
import { NUMBERS_ALONE, type Kind } from '../../limits/kind.ts';
import { EXACT_ROW } from '../../limits/option.ts';
import type { BorrowTerms } from '../../limits/treatment.ts';
import {
  BORROW_CHANGE_ROWS,
  BORROW_ROWS,
  borrowChangeOf,
  borrowTermsOf,
  ceilingOf,
  type Borrow,
  type BorrowOverride,
} from '../borrow/borrow.ts';
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
  /** How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. */
  readonly borrow?: Borrow | undefined;
}

/** Other numbers for one id. */
export interface OverrideNumbers extends LimitNumbers {
  /** Another ceiling or weight, for an override of a limit that borrows. */
  readonly borrow?: BorrowOverride | undefined;
}

/** So many tokens come back in each period, evenly, and a full bucket contains the burst. */
export const rate: Kind<Rate, OverrideNumbers> = {
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
    borrow: {
      about: 'How the limit borrows from a pool when its own tokens are used up.',
      value: { type: 'options', rows: BORROW_ROWS, needed: ['from', 'ceiling'] },
    },
    overshoot: OVERSHOOT_ROW,
    exact: EXACT_ROW,
  },
  needed: ['count', 'period'],
  override: {
    options: {
      ...NUMBER_ROWS,
      borrow: {
        about: 'Another ceiling or weight, if the limit borrows.',
        value: { type: 'options', rows: BORROW_CHANGE_ROWS, needed: [] },
      },
    },
    needed: ['count', 'period'],
    example: "{ count: 600, period: '180m' }",
    rate(where, { borrow, ...numbers }) {
      const own = rateOf(where, numbers);
      return borrow === undefined ? own : { ...own, borrow: borrowChangeOf(`${where}.borrow`, own, borrow) };
    },
  },
  define(options, { where }) {
    const own = rateOf(where, options);
    const bounds = boundsOf(`${where}.atMost`, options.atMost);
    const borrow = borrowTermsOf(where, own, options.borrow);
    checkAtMost(where, own, { rate: own, bounds, borrow });
    return { ...NUMBERS_ALONE, rate: own, bounds, borrow, overshoot: overshootOf(where, options) };
  },
  describe: ({ rate: { count, periodMs, burst } }) => `${count} per ${durationText(periodMs)}, burst ${burst}`,
};

/** A limit whose numbers have bounds. */
interface BoundedLimit {
  readonly rate: Numbers;
  readonly bounds: readonly Bound[];
  readonly borrow: BorrowTerms | undefined;
}

/**
 * Rejects numbers of an id that let more tokens through than `atMost` of its limit allows. Where the limit borrows, the
 * ceiling counts: own and borrowed tokens together.
 *
 * @param where - The path of the numbers in error messages.
 * @param limit - The numbers of the limit itself, its bounds, and how it borrows.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkAtMost(where: string, numbers: Numbers, limit: BoundedLimit): void {
  const { rate: own, bounds, borrow } = limit;
  const [path, most] =
    borrow === undefined ? [where, numbers] : [`${where}.borrow.ceiling`, ceilingOf(borrow, numbers)];
  checkBounds(path, most, debtOf(numbers, own), bounds);
}
