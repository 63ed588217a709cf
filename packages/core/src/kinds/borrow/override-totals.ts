import type { OverrideRate } from '../../limits/limit.ts';
import type { BorrowTerms } from '../../limits/treatment.ts';
import type { Numbers } from '../../rule/rate.ts';
import { aboveCeiling, borrowsNothing, isAtLeast, borrowAndMaxWait } from './borrow.ts';

/** Totals of the overrides of a limit. A network counts as one. */
export class OverrideTotals {
  /** The sum of the rates, in tokens per millisecond. */
  perMs: number = 0;
  /** The sum of the bursts. */
  burst = 0;
  /** The sum of their own `maxDebt`. */
  debt = 0;
  /** How many overrides have the `maxDebt` of the limit. */
  withoutDebt = 0;
  /** The largest burst and the shortest interval of those without a ceiling of their own. */
  readonly largest: { burst: number; emissionIntervalTicks: number } = { burst: 0, emissionIntervalTicks: Infinity };
  /** Whether any of them has `borrow`. */
  borrows = false;
  /** Whether any of them has a `maxWait`. */
  waits = false;

  /** Adds the numbers of an override. */
  add({ count, periodMs, burst, emissionIntervalTicks, maxDebt, waitTicks, borrow }: Numbers): void {
    this.perMs += count / periodMs;
    this.burst += burst;
    this.debt += maxDebt ?? 0;
    if (maxDebt === undefined) this.withoutDebt++;
    this.borrows ||= borrow !== undefined;
    this.waits ||= waitTicks !== undefined;
    if (borrow?.ceiling !== undefined) return;
    this.largest.burst = Math.max(this.largest.burst, burst);
    this.largest.emissionIntervalTicks = Math.min(this.largest.emissionIntervalTicks, emissionIntervalTicks);
  }
}

/** A limit that may borrow. */
interface BorrowingLimit {
  readonly name: string;
  readonly borrow: BorrowTerms | undefined;
}

/**
 * Rejects the numbers that an overrides function has returned, if they contradict the `borrow` of the limit.
 *
 * @throws {SluiceError} As {@link checkBorrowing}.
 */
export function checkBorrowingOf({ name, borrow }: BorrowingLimit, rate: OverrideRate): void {
  if (typeof rate === 'string') return;
  if (borrow === undefined && rate.borrow !== undefined) throw borrowsNothing(name);
  if (borrow !== undefined && rate.waitTicks !== undefined) throw borrowAndMaxWait(`overrides.${name}`);
}

/**
 * Rejects overrides that contradict the `borrow` of their limit.
 *
 * @throws {SluiceError} `ERR_OVERRIDE`, and `ERR_LIMIT` for a `maxWait`.
 */
export function checkBorrowing({ name, borrow }: BorrowingLimit, totals: OverrideTotals): void {
  if (borrow === undefined && totals.borrows) throw borrowsNothing(name);
  if (borrow === undefined) return;
  if (totals.waits) throw borrowAndMaxWait(`overrides.${name}`);
  if (!isAtLeast(borrow.ceiling, totals.largest)) throw aboveCeiling(name, borrow.ceiling);
}
