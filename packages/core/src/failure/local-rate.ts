import type { Rate } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { Charge } from '../decision/batch-answer.ts';

/**
 * One process's share of a limit that `gateways` processes share: T × gateways, and burst / gateways rounded down but
 * at least 1. All shares together let through the limit's own rate, and at one instant the greater of its burst and
 * `gateways`.
 *
 * The share stays on the time grid: where one token would take more than ten years to come back, it takes ten years.
 */
export function localRate(rate: Rate, gateways: number): Rate {
  const burst = Math.max(1, Math.floor(rate.burst / gateways));
  // Only a burst of 1 can reach the end of the grid: a greater one gives at most the limit's own tolerance.
  const emissionIntervalTicks = Math.min(rate.emissionIntervalTicks * gateways, MAX_TOLERANCE_TICKS);
  return {
    burst,
    count: rate.count,
    periodMs: rate.periodMs * (emissionIntervalTicks / rate.emissionIntervalTicks),
    emissionIntervalTicks,
    toleranceTicks: burst * emissionIntervalTicks,
  };
}

/** Gives transactions and charges their local numbers. Rates are derived once and kept as long as they are in use. */
export class LocalRates {
  readonly #gateways: number;
  readonly #derived = new WeakMap<Rate, Rate>();

  constructor(gateways: number) {
    this.#gateways = gateways;
  }

  /**
   * The same with local numbers. A cost above the local burst takes the whole local bucket, or it would be denied for
   * as long as the store fails.
   */
  localized<T extends Charge>(transaction: T): T {
    if (this.#gateways === 1) return transaction;
    const rate = this.#of(transaction.rate);
    const cost = Math.min(transaction.cost, rate.burst);
    const incrementTicks = cost * rate.emissionIntervalTicks;
    return { ...transaction, rate, cost, incrementTicks, toleranceTicks: rate.toleranceTicks };
  }

  #of(rate: Rate): Rate {
    let local = this.#derived.get(rate);
    if (local === undefined) this.#derived.set(rate, (local = localRate(rate, this.#gateways)));
    return local;
  }
}
