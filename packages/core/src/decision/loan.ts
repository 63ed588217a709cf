import { ceilingOf } from '../limits/borrowing.ts';
import type { Borrowing } from '../limits/limit.ts';
import { EVERYONE } from '../keys/everyone.ts';
import { shareOf } from '../rule/gcra.ts';
import type { Rate } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { Mode } from '../store/store.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { Transaction } from './transaction.ts';

/**
 * The transactions by which stores decide one transaction of a limit that borrows. In a batch, `own` replaces it, and the
 * pairs of ceiling and pool of all such transactions follow after the other transactions, in the same order. So the
 * results of a decision have the same indexes as its first transactions.
 */
export interface Loan {
  readonly own: Transaction;
  readonly ceiling: Transaction;
  readonly pool: Transaction;
}

/** Whether a transaction has to be replaced by those of a {@link Loan}. */
export function borrows({ treatment }: Transaction): boolean {
  return treatment.borrowing !== undefined;
}

/**
 * The id's own tokens: its ceiling spends, its own bucket spends, and the pool is charged whether it has tokens or not,
 * at most to τ + D.
 */
export function assuredLoan(transaction: Transaction, borrowing: Borrowing): Loan {
  const { mode } = transaction;
  const { pool, own } = borrowing;
  const cost = mode === 'check-only' ? 0 : transaction.cost;
  return {
    own: { ...transaction, treatment: own },
    ceiling: ceilingPart(transaction, borrowing, mode),
    pool: poolPart(borrowing, { cost, mode: 'charge', fitTicks: pool.rate.toleranceTicks, capTicks: pool.capTicks }),
  };
}

/**
 * Tokens of the pool: the ceiling spends, and the pool spends up to a share of its bucket. The own bucket is read; its
 * tokens do not suffice, or the first alternative would have passed.
 *
 * @param share - The part of what the pool has left above the cost that may be lent: above 0, at most 1.
 * @returns `undefined` for a cost that never fits into the pool.
 */
export function borrowedLoan(transaction: Transaction, borrowing: Borrowing, share: number): Loan | undefined {
  const { mode, cost, fitTicks: ownFitTicks, rate } = transaction;
  const { pool, own } = borrowing;
  const incrementTicks = cost * pool.rate.emissionIntervalTicks;
  const roomTicks = shareOf(pool.rate.toleranceTicks, ownFitTicks / rate.toleranceTicks);
  if (incrementTicks > roomTicks) return undefined;
  const fitTicks = incrementTicks + shareOf(roomTicks - incrementTicks, share);
  const look = mode === 'check-only' ? { cost: 0, incrementTicks: 0 } : undefined;
  return {
    own: { ...transaction, ...look, mode: 'spend-only', treatment: own },
    ceiling: ceilingPart(transaction, borrowing, mode),
    pool: poolPart(borrowing, { cost, mode, fitTicks, capTicks: pool.capTicks }),
  };
}

/**
 * A charge of all three buckets. It takes the pool to τ + D, as the id's own tokens do. If it emptied the pool at most, then
 * of ids that are charged after the fact, others could borrow the same tokens again.
 */
export function chargedLoan(transaction: Transaction, borrowing: Borrowing): Loan {
  const { cost } = transaction;
  const { rate, capTicks } = borrowing.pool;
  return {
    own: { ...transaction, treatment: borrowing.own },
    ceiling: ceilingPart(transaction, borrowing, 'charge'),
    pool: poolPart(borrowing, { cost, mode: 'charge', fitTicks: rate.toleranceTicks, capTicks }),
  };
}

function ceilingPart(transaction: Transaction, borrowing: Borrowing, mode: Mode): Transaction {
  const { id, cost, rate, overridden, capTicks: ownCapTicks } = transaction;
  const ceiling = ceilingOf(borrowing, rate);
  const { toleranceTicks, emissionIntervalTicks } = ceiling;
  // As many tokens of debt as in the own bucket. Otherwise the pool would lend to a client in debt at once.
  const debtTicks = ((ownCapTicks - rate.toleranceTicks) / rate.emissionIntervalTicks) * emissionIntervalTicks;
  const capTicks = Math.min(toleranceTicks + Math.ceil(debtTicks), MAX_TOLERANCE_TICKS);
  const numbers = { cost, mode, fitTicks: toleranceTicks, capTicks };
  return part(borrowing, { limit: borrowing.ceilingName, id, rate: ceiling, overridden, ...numbers });
}

type PoolNumbers = Pick<Transaction, 'cost' | 'mode' | 'fitTicks' | 'capTicks'>;

function poolPart(borrowing: Borrowing, numbers: PoolNumbers): Transaction {
  const { name, rate } = borrowing.pool;
  return part(borrowing, { limit: name, id: EVERYONE, rate, overridden: false, ...numbers });
}

function part(
  { internal }: Borrowing,
  {
    limit,
    id,
    rate,
    overridden,
    cost,
    mode,
    fitTicks,
    capTicks,
  }: PoolNumbers & {
    readonly limit: string;
    readonly id: string;
    readonly rate: Rate;
    readonly overridden: boolean;
  },
): Transaction {
  const incrementTicks = Math.min(cost * rate.emissionIntervalTicks, capTicks);
  const ticks = { incrementTicks, fitTicks, capTicks, lineTicks: undefined };
  return { limit, id, ...ticks, mode, cost, rate, overridden, treatment: internal };
}

/**
 * Replaces transactions of a batch by those of their loans.
 *
 * @param loans - In the order of the batch; undefined where a transaction stays as it is.
 */
export function withLoans(batch: readonly Transaction[], loans: readonly (Loan | undefined)[]): readonly Transaction[] {
  const internal = loans.flatMap((loan) => (loan === undefined ? [] : [loan.ceiling, loan.pool]));
  return [...batch.map((transaction, i) => loans[i]?.own ?? transaction), ...internal];
}

/**
 * Returns a batch for a charge or a refund of named buckets: for a limit that borrows, that of its three buckets. A pool
 * that occurs several times is named once, with the sum of the costs.
 */
export function withChargedLoans(batch: readonly Transaction[]): readonly Transaction[] {
  if (!batch.some(borrows)) return batch;
  const all = withLoans(
    batch,
    batch.map((one) => one.treatment.borrowing && chargedLoan(one, one.treatment.borrowing)),
  );
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
  return { ...one, cost: one.cost + other.cost, incrementTicks };
}
