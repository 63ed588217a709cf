import type { Levels } from '../limits/levels.ts';
import type { Treatment } from '../limits/treatment.ts';
import type { Rate } from '../rule/rate.ts';
import type { CalendarPeriod } from '../store/calendar-period.ts';
import type { Mode, SlotHolding, StoreTransaction } from '../store/store.ts';

/** What a request asks of a bucket. */
export interface Demand {
  /** The name under which the bucket is stored, and how decisions by it are treated. */
  readonly limit: { readonly name: string; readonly treatment: Treatment };
  /** Tokens requested, a whole number of at least 0. Only a charge or a refund may have more than the burst. */
  readonly cost: number;
  readonly mode: Mode;
  /** The part of the bucket that the request may use up: above 0, at most 1. */
  readonly share: number;
}

/**
 * One limit, one id, one cost, one mode and one share, with the numbers that apply to the id. It is passed to stores as
 * it is. Each is made by this constructor, so that all have one hidden class: see docs/hot-path.md.
 */
export class Transaction implements StoreTransaction {
  readonly limit: string;
  readonly id: string;
  readonly incrementTicks: number;
  /** The level up to which the increment fits. */
  readonly fitTicks: number;
  readonly capTicks: number;
  readonly lineTicks: number | undefined;
  readonly mode: Mode;
  readonly cost: number;
  readonly share: number;
  readonly rate: Rate;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
  /** That of its limit. */
  readonly treatment: Treatment;
  readonly calendar: string | undefined;
  readonly period: CalendarPeriod | undefined;
  readonly slots: true | undefined;
  readonly holding: SlotHolding | undefined;

  // The parts are not in one object, because it would be made for each decision: see docs/hot-path.md.
  constructor(
    demand: Demand,
    id: string,
    levels: Pick<Levels, 'rate' | 'overridden' | 'capTicks' | 'lineTicks'>,
    fitTicks: number,
    calendar?: string,
    period?: CalendarPeriod,
  ) {
    const { limit, cost } = demand;
    const { rate, capTicks } = levels;
    const { treatment } = limit;
    this.limit = limit.name;
    this.id = id;
    this.incrementTicks = Math.min(cost * rate.emissionIntervalTicks, capTicks);
    this.fitTicks = fitTicks;
    this.capTicks = capTicks;
    this.lineTicks = levels.lineTicks;
    this.mode = demand.mode;
    this.cost = cost;
    this.share = demand.share;
    this.rate = rate;
    this.overridden = levels.overridden;
    this.treatment = treatment;
    this.calendar = calendar;
    this.period = period;
    this.slots = treatment.slots === undefined ? undefined : true;
    this.holding = undefined;
  }
}

/** Returns a copy of a transaction with other values of some properties. */
export function changed(transaction: Transaction, changes: Partial<Transaction>): Transaction {
  const { limit: name, treatment, cost, mode, share, id, fitTicks } = transaction;
  const demand = { limit: { name, treatment }, cost, mode, share };
  return Object.assign(new Transaction(demand, id, transaction, fitTicks), transaction, changes);
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
