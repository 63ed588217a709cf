import { ceilingOf } from './borrow.ts';
import { Levels } from '../../limits/levels.ts';
import { EVERYONE } from '../../keys/everyone.ts';
import { shareOf } from '../../rule/gcra.ts';
import { MAX_TOLERANCE_TICKS } from '../../rule/ticks.ts';
import type { Mode } from '../../store/store.ts';
import { mapKeyOf } from '../../store/bucket-key.ts';
import { changed, Transaction } from '../../decision/transaction.ts';
import { borrowingOf, type Borrowing } from './terms.ts';

/**
 * The transactions by which stores decide one transaction of a limit that borrows: of its own bucket, its ceiling and
 * the pool. In a batch, the first replaces it, and the pairs of ceiling and pool of all such transactions follow after
 * the other transactions, in the same order. So the results of a decision have the same indexes as its first
 * transactions.
 */
export type Loan = readonly [own: Transaction, ceiling: Transaction, pool: Transaction];

/** Whether a transaction has to be replaced by those of a {@link Loan}. */
export function borrows({ treatment }: Transaction): boolean {
  return treatment.borrowing !== undefined;
}

/**
 * The transactions for own tokens: spend from the ceiling and the own bucket, and charge the pool, whether it has
 * tokens or not, at most to τ + D.
 */
export function assuredLoan(transaction: Transaction, borrowing: Borrowing): Loan {
  const { mode } = transaction;
  const cost = mode === 'check-only' ? 0 : transaction.cost;
  const { toleranceTicks } = borrowing.pool.rate;
  return [
    ownPart(transaction, borrowing, mode),
    ceilingPart(transaction, borrowing, mode),
    poolPart(borrowing, cost, 'charge', toleranceTicks),
  ];
}

/**
 * The transactions for borrowed tokens: spend from the ceiling, and from the pool up to a share of its bucket. The own
 * bucket is a `spend-only`. It had too few tokens, or the first alternative would have passed. If it has enough
 * meanwhile, they are taken.
 *
 * @param share - The part of what the pool has left above the cost that may be lent: above 0, at most 1.
 * @returns `undefined` for a cost that never fits into the pool.
 */
export function borrowedLoan(transaction: Transaction, borrowing: Borrowing, share: number): Loan | undefined {
  const { mode, cost, fitTicks: ownFitTicks, rate } = transaction;
  const { toleranceTicks, emissionIntervalTicks } = borrowing.pool.rate;
  const incrementTicks = cost * emissionIntervalTicks;
  const roomTicks = shareOf(toleranceTicks, ownFitTicks / rate.toleranceTicks);
  if (incrementTicks > roomTicks) return undefined;
  const fitTicks = incrementTicks + shareOf(roomTicks - incrementTicks, share);
  return [
    ownPart(transaction, borrowing, 'spend-only'),
    ceilingPart(transaction, borrowing, mode),
    poolPart(borrowing, cost, mode, fitTicks),
  ];
}

/**
 * A charge of all three buckets. It may take the pool to τ + D, like own tokens. If it stopped at an empty pool, other
 * ids could borrow again the tokens that were charged after the fact.
 */
function chargedLoan(transaction: Transaction, borrowing: Borrowing): Loan {
  const { mode, cost } = transaction;
  const { toleranceTicks } = borrowing.pool.rate;
  return [
    ownPart(transaction, borrowing, mode),
    ceilingPart(transaction, borrowing, 'charge'),
    poolPart(borrowing, cost, 'charge', toleranceTicks),
  ];
}

function ownPart(transaction: Transaction, { own }: Borrowing, mode: Mode): Transaction {
  const isLook = transaction.mode === 'check-only' && mode === 'spend-only';
  const { limit: name, id, share } = transaction;
  const cost = isLook ? 0 : transaction.cost;
  return new Transaction({ limit: { name, treatment: own }, cost, mode, share }, transaction, id);
}

function ceilingPart(transaction: Transaction, borrowing: Borrowing, mode: Mode): Transaction {
  const { id, cost, rate: ownRate, capTicks: ownCapTicks, overridden } = transaction;
  const rate = ceilingOf(borrowing, ownRate);
  const { toleranceTicks, emissionIntervalTicks } = rate;
  // As many tokens of debt as in the own bucket. Otherwise a client in debt could borrow at once.
  const debtTicks = ((ownCapTicks - ownRate.toleranceTicks) / ownRate.emissionIntervalTicks) * emissionIntervalTicks;
  const capTicks = Math.min(toleranceTicks + Math.ceil(debtTicks), MAX_TOLERANCE_TICKS);
  const levels = new Levels({ rate, overridden, fitTicks: toleranceTicks, capTicks, lineTicks: undefined });
  const limit = { name: borrowing.ceilingName, treatment: borrowing.ofCeiling };
  return new Transaction({ limit, cost, mode, share: 1 }, levels, id);
}

function poolPart({ pool, ofPool }: Borrowing, cost: number, mode: Mode, fitTicks: number): Transaction {
  const { name, rate, capTicks } = pool;
  const levels = new Levels({ rate, overridden: false, fitTicks, capTicks, lineTicks: undefined });
  return new Transaction({ limit: { name, treatment: ofPool }, cost, mode, share: 1 }, levels, EVERYONE);
}

/** Replaces the transactions of limits that borrow by those that take the ids' own tokens, or that are charges. */
export function assuredBatch(batch: readonly Transaction[]): readonly Transaction[] {
  const borrowing = borrowingOf(batch[0]!.treatment);
  if (batch.length === 1 && borrowing !== undefined) return assuredLoan(batch[0]!, borrowing);
  return withLoans(batch, assuredLoan);
}

type MakeLoan = (transaction: Transaction, borrowing: Borrowing, index: number) => Loan;

/** Replaces the transactions of limits that borrow by those of their loans. */
export function withLoans(batch: readonly Transaction[], loanOf: MakeLoan): readonly Transaction[] {
  const all: Transaction[] = [];
  const internal: Transaction[] = [];
  for (const [i, transaction] of batch.entries()) {
    const borrowing = borrowingOf(transaction.treatment);
    const loan = borrowing && loanOf(transaction, borrowing, i);
    all.push(loan === undefined ? transaction : loan[0]);
    if (loan !== undefined) internal.push(loan[1], loan[2]);
  }
  return [...all, ...internal];
}

/**
 * Returns a batch for a charge or a refund of named buckets. A limit that borrows is replaced by its three buckets. A
 * pool that occurs several times is named once, with the sum of the costs.
 */
export function withChargedLoans(batch: readonly Transaction[]): readonly Transaction[] {
  if (!batch.some(borrows)) return batch;
  const all = withLoans(batch, chargedLoan);
  const merged = new Map<string, Transaction>();
  for (const one of all) {
    const bucket = mapKeyOf(one);
    const other = merged.get(bucket);
    merged.set(bucket, other === undefined ? one : sumOf(other, one));
  }
  return [...merged.values()];
}

function sumOf(one: Transaction, other: Transaction): Transaction {
  const incrementTicks = Math.min(one.incrementTicks + other.incrementTicks, one.capTicks);
  return changed(one, { cost: one.cost + other.cost, incrementTicks });
}
