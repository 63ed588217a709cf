import type { Levels } from '../limits/levels.ts';
import type { Treatment } from '../limits/treatment.ts';
import type { Use } from '../limits/use.ts';
import type { Numbers } from '../rule/rate.ts';
import type { CalendarPeriod } from '../store/calendar-period.ts';
import type { Mode, SlotHolding, StoreTransaction } from '../store/store.ts';

/** Transactions that are decided together. */
export type Batch = readonly Transaction[];

/** What a transaction needs of a {@link Use}. Only a charge or a refund may cost more than the burst. */
interface StoredUse extends Pick<Use, 'cost' | 'mode' | 'share'> {
  /** The name under which the bucket is stored, and how decisions by it are treated. */
  readonly limit: Pick<Use['limit'], 'name' | 'treatment'>;
}

/**
 * The use of a limit for one id. It is passed to stores as it is: plain data, which a store that wraps another one may copy.
 * Each is made by this constructor, so that all have one hidden class, whose properties V8 finds fast.
 */
export class Transaction implements StoreTransaction, Levels {
  readonly limit: string;
  readonly id: string;
  readonly incrementTicks: number;
  readonly fitTicks: number;
  readonly capTicks: number;
  readonly lineTicks: number | undefined;
  readonly mode: Mode;
  readonly cost: number;
  readonly share: number;
  readonly rate: Numbers;
  readonly overridden: boolean;
  readonly treatment: Treatment;
  readonly calendar: string | undefined;
  readonly period: CalendarPeriod | undefined;
  readonly slots: true | undefined;
  readonly holding: SlotHolding | undefined;
  /** Whether a store can decide it as it is: its limit is plain, its id is not blocked, and its cost fits into the burst. */
  readonly isPlain: boolean;

  /** @param levels - Of its id. */
  constructor(use: StoredUse, levels: Levels, id: string, calendar?: string, period?: CalendarPeriod) {
    this.limit = use.limit.name;
    this.id = id;
    this.incrementTicks = Math.min(use.cost * levels.rate.emissionIntervalTicks, levels.capTicks);
    this.fitTicks = levels.fitTicks;
    this.capTicks = levels.capTicks;
    this.lineTicks = levels.lineTicks;
    this.mode = use.mode;
    this.cost = use.cost;
    this.share = use.share;
    this.rate = levels.rate;
    this.overridden = levels.overridden;
    this.treatment = use.limit.treatment;
    this.calendar = calendar;
    this.period = period;
    this.slots = use.limit.treatment.holding === undefined ? undefined : true;
    this.holding = undefined;
    this.isPlain = use.limit.treatment.isPlain && levels.rate.burst > 0 && use.cost <= levels.rate.burst;
  }
}

/** Returns a copy of a transaction with other values of some properties, or with more of them. */
export function changed<Changes extends Partial<Transaction>>(
  transaction: Transaction,
  changes: Changes,
): Transaction & Changes {
  const { limit: name, treatment, cost, mode, share, id } = transaction;
  const copy = new Transaction({ limit: { name, treatment }, cost, mode, share }, transaction, id);
  return Object.assign(copy, transaction, changes);
}

/**
 * Whether the id is blocked. Such a transaction never reaches a store. The burst distinguishes it: that of a limit is
 * at least 1.
 */
export function isBlocked({ rate }: Transaction): boolean {
  return rate.burst === 0;
}

/**
 * Returns the level up to which an increment fits without a delay: that of an empty bucket, or of the transaction's
 * share of it.
 */
export function readyTicks({ fitTicks, rate }: Pick<Transaction, 'fitTicks' | 'rate'>): number {
  return fitTicks < rate.toleranceTicks ? fitTicks : rate.toleranceTicks;
}

/** Returns the transaction of a request that can't wait: it fits only without a delay. */
export function withoutDelay(transaction: Transaction): Transaction {
  return changed(transaction, { fitTicks: readyTicks(transaction) });
}

/** Whether a transaction has no result of its own: that of a ceiling or of a pool. */
export function isInternal({ treatment: { part } }: Pick<Transaction, 'treatment'>): boolean {
  return part === 'pool' || part === 'ceiling';
}

/**
 * Counts the limits and ids that a charge or a refund is for: the buckets of a limit that borrows are one. Its ceiling
 * always takes part, while its own bucket may have nothing to give back, and several ids may share one pool.
 */
export function countNamed(batch: readonly Pick<Transaction, 'treatment'>[]): number {
  return batch.filter(({ treatment: { part } }) => part === 'whole' || part === 'ceiling').length;
}
