import { BORROW, type BorrowingRate } from './borrow-kind.ts';
import type { Borrow } from './borrow.ts';
import { ofKind, type LimitOfKind } from '../limit-of-kind.ts';
import type { LimitSettings } from '../../limits/limit-settings.ts';
import type { LimitNumbers } from '../../rule/rate.ts';

/** The options of {@link borrow}. */
export interface BorrowOptions<Request = unknown> extends LimitSettings<Request>, Omit<BorrowingRate, 'borrow'> {
  /**
   * How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. In the
   * options of a middleware, `from` has the numbers of the pool instead of its name.
   */
  readonly borrow: Borrow | InlineBorrow;
}

/** How the limit of a middleware borrows. Its pool is a limit of the middleware, too. */
export interface InlineBorrow extends Omit<Borrow, 'from'> {
  /** The numbers of the pool that all clients share: `{ count: 1000, period: '1s' }`. */
  readonly from: LimitNumbers;
}

/**
 * A rate that borrows from a pool.
 *
 *     const limits = {
 *       Pool: { key: everyone(), count: 1000, period: '1s' },
 *       PerUser: borrow({
 *         key: accountId(),
 *         count: 10,
 *         period: '1s',
 *         borrow: { from: 'Pool', ceiling: { count: 400, period: '1s' } },
 *       }),
 *     };
 */
export function borrow<Request = unknown>(
  options: BorrowOptions<Request>,
): BorrowOptions<Request> & LimitOfKind<Request> {
  return ofKind<Request, BorrowOptions<Request>>(BORROW, options);
}
