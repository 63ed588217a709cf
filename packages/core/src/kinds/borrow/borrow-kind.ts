import { checkBounds } from '../../rule/at-most.ts';
import { debtOf, rateOf, withDebtOf, type LimitNumbers } from '../../rule/rate.ts';
import type { Kind } from '../kind.ts';
import { NUMBER_ROWS } from '../rate/number-rows.ts';
import { describedRate, RATE, ratePartsOf, type Rate } from '../rate/rate.ts';
import {
  BORROW_CHANGE_ROWS,
  BORROW_ROWS,
  borrowChangeOf,
  borrowTermsOf,
  ceilingOf,
  checkOverrides,
  type Borrow,
  type BorrowOverride,
} from './borrow.ts';
import { BorrowPart } from './borrow-stage.ts';
import { inlinePool } from './inline-pool.ts';
import { checkLoans } from './lender.ts';
import { borrowedNumbersOf, ceilingsOf, withPools } from './pools.ts';
import { termsOf } from './terms.ts';

/** The options of a limit that borrows: a rate, the assured one, and how it borrows. */
export interface BorrowingRate extends Omit<Rate, 'overshoot' | 'maxWait'> {
  /** How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. */
  readonly borrow: Borrow;
}

/** Other numbers for one id of a limit that borrows. */
export interface BorrowingNumbers extends Omit<LimitNumbers, 'maxWait'> {
  /** Another ceiling or weight. */
  readonly borrow?: BorrowOverride | undefined;
}

const { maxWait: _, ...ROWS } = NUMBER_ROWS;

/** A rate that takes tokens of a pool when its own are used up. */
export const BORROW: Kind<BorrowingRate, BorrowingNumbers> = {
  name: RATE.name,
  level: RATE.level,
  size: RATE.size,
  noun: 'a rate that borrows',
  mark: 'borrow',
  example: "borrow: { from: 'Pool', ceiling: { count: 400, period: '1s' } }",
  options: {
    ...ROWS,
    atMost: RATE.options.atMost,
    exact: RATE.options.exact,
    borrow: {
      about: 'How the limit borrows from a pool when its own tokens are used up.',
      value: { type: 'options', rows: BORROW_ROWS, needed: ['from', 'ceiling'] },
    },
  },
  needed: ['count', 'period', 'borrow'],
  hints: {
    maxWait:
      'whether a request has to wait would depend on the pool. Put `maxWait` on a second limit with the same key.',
    overshoot: 'what is left of its pool is exact.',
  },
  override: {
    options: {
      ...ROWS,
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
    const parts = ratePartsOf(where, options);
    const own = borrowTermsOf(where, parts.rate, options.borrow);
    const ceiling = ceilingOf(own, parts.rate);
    checkBounds(`${where}.borrow.ceiling`, ceiling, debtOf(parts.rate, parts.rate), parts.bounds);
    return { ...parts, own };
  },
  describe: ({ rate }) => describedRate(rate),
  links: {
    connected: withPools,
    checkOverrides,
    checkTogether: checkLoans,
    most: (where, numbers, limit) => [`${where}.borrow.ceiling`, ceilingOf(termsOf(limit), numbers)],
    other: ceilingsOf,
    otherNumbers: (limit, rate) => withDebtOf(rate, ceilingOf(termsOf(limit), rate)),
    numbers: borrowedNumbersOf,
    inline: inlinePool,
  },
  part: (context) => new BorrowPart(context),
};
