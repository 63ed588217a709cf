import type { Terms } from '../limits/terms.ts';
import type { Treatment } from '../limits/treatment.ts';
import type { Rate } from '../rule/rate.ts';
import type { CalendarPeriod } from '../store/calendar-period.ts';
import type { Mode, SlotHolding, StoreTransaction } from '../store/store.ts';

/**
 * The terms of one id. It is passed to stores as it is: plain data, which a store that wraps another one may copy. Each is
 * made by this constructor, so that all have one hidden class: see docs/hot-path.md.
 */
export class Transaction implements StoreTransaction, Terms {
  readonly limit: string;
  readonly id: string;
  readonly incrementTicks: number;
  readonly fitTicks: number;
  readonly capTicks: number;
  readonly lineTicks: number | undefined;
  readonly mode: Mode;
  readonly cost: number;
  readonly share: number;
  readonly rate: Rate;
  readonly overridden: boolean;
  readonly treatment: Treatment;
  readonly calendar: string | undefined;
  readonly period: CalendarPeriod | undefined;
  readonly slots: true | undefined;
  readonly holding: SlotHolding | undefined;

  constructor(terms: Terms, id: string, calendar?: string, period?: CalendarPeriod) {
    this.limit = terms.limit;
    this.id = id;
    this.incrementTicks = terms.incrementTicks;
    this.fitTicks = terms.fitTicks;
    this.capTicks = terms.capTicks;
    this.lineTicks = terms.lineTicks;
    this.mode = terms.mode;
    this.cost = terms.cost;
    this.share = terms.share;
    this.rate = terms.rate;
    this.overridden = terms.overridden;
    this.treatment = terms.treatment;
    this.calendar = calendar;
    this.period = period;
    this.slots = terms.slots;
    this.holding = undefined;
  }
}

/** Returns a copy of a transaction with other values of some properties. */
export function changed(transaction: Transaction, changes: Partial<Transaction>): Transaction {
  return Object.assign(new Transaction(transaction, transaction.id), transaction, changes);
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
