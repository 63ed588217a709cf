import type { Limit } from '../../limits/limit.ts';
import type { Borrows, Treatment } from '../../limits/treatment.ts';
import type { Numbers } from '../../rule/rate.ts';
import { kindOfLimit } from '../kind.ts';

/** How a limit borrows, as it was defined. */
export interface BorrowTerms {
  /** The name of the pool. */
  readonly from: string;
  readonly ceiling: Numbers;
  readonly fair: boolean;
  /** The part of an id in the rest of the pool, relative to other ids. */
  readonly weight: number | ((id: string) => number);
  readonly tenants: number | undefined;
}

/** What the limits that borrow from a pool need of it. */
export interface Pool {
  readonly name: string;
  readonly rate: Numbers;
  /** The level to which assured requests may raise the pool's: τ + D, where D are all assured bursts together. */
  readonly capTicks: number;
}

/** How one limit borrows, with the properties of its pool that decisions need. */
export interface Borrowing extends BorrowTerms, Borrows {
  readonly pool: Pool;
  /** The treatment of the limit's own transaction in a batch for a store. */
  readonly own: Treatment;
  /** The treatments of the transactions of the ceiling and of the pool. */
  readonly ofCeiling: Treatment;
  readonly ofPool: Treatment;
}

/** Returns how a limit of the kind borrows, as it was defined. */
export function termsOf({ own }: Pick<Limit<never>, 'own'>): BorrowTerms {
  return own as BorrowTerms;
}

/** Returns how any limit borrows, as it was defined; undefined if it does not. */
export function borrowTermsOf(limit: Pick<Limit<never>, 'kind' | 'own'>): BorrowTerms | undefined {
  return kindOfLimit(limit).mark === 'borrow' ? termsOf(limit) : undefined;
}

/** Returns how a limit borrows, with its pool; undefined for limits that do not, and for the transactions of a loan. */
export function borrowingOf({ borrowing }: Treatment): Borrowing | undefined {
  return borrowing as Borrowing | undefined;
}
