/**
 * Limits that take tokens of a pool when their own are used up.
 *
 * @module
 */
export type { Borrow, BorrowOverride } from './kinds/borrow/borrow.ts';
export type { BorrowingNumbers, BorrowingRate } from './kinds/borrow/borrow-kind.ts';
export { borrow, type BorrowOptions, type InlineBorrow } from './kinds/borrow/borrow-limit.ts';
