import type { Awaitable } from '../async/awaitable.ts';
import { hasBlocked } from './batch.ts';
import { blockedDecision } from './decide.ts';
import type { Decided } from './decided.ts';
import { isBlocked, type Transaction, type Batch } from './transaction.ts';

/** What is done with a batch: its tokens are taken, or nothing is. */
export type DecisionCall = 'spend' | 'check';

/** One of the stages by which a batch is decided. All of them are in one array, in their order: see `limiter-parts.ts`. */
export interface Stage {
  /** False while it has nothing to do with any batch. */
  readonly isActive: boolean;
  /** Whether it has anything to do with batches that contain a transaction. Its methods are called only for these. */
  readonly concerns: (transaction: Transaction) => boolean;

  /**
   * Decides a batch, or leaves all or a part of it to the stages after this one, and makes a decision of both.
   *
   * @throws What the other stages throw.
   */
  decide(call: DecisionCall, batch: Batch, rest: Rest): Awaitable<Decided>;

  /**
   * Does the same for batches of which the first that passes is wanted. A stage without it has no limits that can be in
   * them.
   *
   * @returns The decisions of the batches that were tried: all but the last are denied.
   */
  decideFirst?(call: DecisionCall, batches: readonly Batch[], rest: Rest): Awaitable<readonly Decided[]>;
}

/** The stages after one, and after them the store. */
export interface Rest {
  /** The gate of the limiter, to which its decisions belong. */
  readonly owner: object;
  decide(batch: Batch): Awaitable<Decided>;
  decideFirst(batches: readonly Batch[]): Awaitable<readonly Decided[]>;
}

/** Denies batches with a blocked id without the store. */
export const BLOCKED: Stage = {
  isActive: true,
  concerns: isBlocked,
  decide: (_, batch, { owner }) => blockedDecision(batch, owner),
  decideFirst(_, batches, rest) {
    const open = batches.filter((batch) => !hasBlocked(batch));
    return open.length === 0 ? [blockedDecision(batches[0]!, rest.owner)] : rest.decideFirst(open);
  },
};
