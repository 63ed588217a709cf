import type { Numbers } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';

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
  /** The largest of each number of them and of their ceilings. */
  readonly #slowest = { emissionIntervalTicks: 0, toleranceTicks: 0, maxDebt: 0, waitTicks: 0 };

  /** Adds the numbers of an override. */
  add(rate: Numbers): void {
    const { count, periodMs, burst, emissionIntervalTicks, maxDebt, borrow } = rate;
    this.#noteSlowest(rate);
    if (borrow?.ceiling !== undefined) this.#noteSlowest(borrow.ceiling);
    this.perMs += count / periodMs;
    this.burst += burst;
    this.debt += maxDebt ?? 0;
    if (maxDebt === undefined) this.withoutDebt++;
    if (borrow?.ceiling !== undefined) return;
    this.largest.burst = Math.max(this.largest.burst, burst);
    this.largest.emissionIntervalTicks = Math.min(this.largest.emissionIntervalTicks, emissionIntervalTicks);
  }

  /**
   * Returns an upper bound of the debts of all of them.
   *
   * @param own - The numbers of the limit, whose `maxDebt` and `maxWait` overrides without their own have.
   */
  longestDebtTicks(own: Numbers): number {
    const { emissionIntervalTicks, toleranceTicks, maxDebt, waitTicks } = this.#slowest;
    const debtTicks = Math.max(maxDebt, own.maxDebt ?? 0) * emissionIntervalTicks;
    return Math.min(toleranceTicks + Math.max(debtTicks, waitTicks, own.waitTicks ?? 0), MAX_TOLERANCE_TICKS);
  }

  #noteSlowest({ emissionIntervalTicks, toleranceTicks, maxDebt = 0, waitTicks = 0 }: Numbers): void {
    const slowest = this.#slowest;
    slowest.emissionIntervalTicks = Math.max(slowest.emissionIntervalTicks, emissionIntervalTicks);
    slowest.toleranceTicks = Math.max(slowest.toleranceTicks, toleranceTicks);
    slowest.maxDebt = Math.max(slowest.maxDebt, maxDebt);
    slowest.waitTicks = Math.max(slowest.waitTicks, waitTicks);
  }
}
