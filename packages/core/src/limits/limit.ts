import type { Key } from '../keys/key.ts';
import type { AnyKind, KindParts } from '../kinds/kind.ts';
import type { BorrowTerms } from '../kinds/rate/borrow.ts';
import type { Rate } from '../rule/rate.ts';
import type { Levels } from './levels.ts';
import type { Treatment } from './treatment.ts';

/** What the limits that borrow from a pool need of it. */
export interface Pool {
  readonly name: string;
  readonly rate: Rate;
  /** The level to which assured requests may raise the pool's: τ + D, where D are all assured bursts together. */
  readonly capTicks: number;
}

/** How one limit borrows, with the properties of its pool that decisions need. */
export interface Borrowing extends BorrowTerms {
  readonly ceilingName: string;
  readonly pool: Pool;
  /** The treatment of the limit's own transaction in a batch for a store. */
  readonly own: Treatment;
  /** The treatments of the transactions of the ceiling and of the pool. */
  readonly ofCeiling: Treatment;
  readonly ofPool: Treatment;
}

/** A validated limit, with its numbers in ticks. */
export interface Limit<Request = unknown> extends Omit<KindParts, 'slots' | 'overshoot'> {
  readonly name: string;
  readonly kind: AnyKind;
  readonly key: Key<Request>;
  /** The levels of ids with these numbers. */
  readonly levels: Levels;
  readonly disabled: boolean;
  readonly treatment: Treatment;
}
