import type { Rate } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { Charge } from '../decision/batch-answer.ts';

/**
 * Returns one process's share of a limit that `gateways` processes share: the interval T × gateways, and burst /
 * gateways rounded down, at least 1. Together the shares allow the limit's own rate and, at one instant, the larger of
 * its burst and `gateways`.
 *
 * T is capped at ten years, the longest time that ticks allow for a bucket to fill.
 */
export function localRate(rate: Rate, gateways: number): Rate {
  const burst = Math.max(1, Math.floor(rate.burst / gateways));
  // Only a burst of 1 can reach the cap: with a larger burst, the tolerance is at most that of the limit.
  const emissionIntervalTicks = Math.min(rate.emissionIntervalTicks * gateways, MAX_TOLERANCE_TICKS);
  return {
    burst,
    count: rate.count,
    periodMs: rate.periodMs * (emissionIntervalTicks / rate.emissionIntervalTicks),
    emissionIntervalTicks,
    toleranceTicks: burst * emissionIntervalTicks,
  };
}

/**
 * Converts transactions and charges to this process's share. Each rate is converted once and cached while it is in use.
 */
export class LocalRates {
  readonly #gateways: number;
  readonly #derived = new WeakMap<Rate, Rate>();

  constructor(gateways: number) {
    this.#gateways = gateways;
  }

  /**
   * Returns a transaction with local numbers. A cost above the local burst takes the whole local bucket; otherwise it
   * would be denied during the entire outage.
   */
  localized<T extends Charge>(transaction: T): T {
    if (this.#gateways === 1) return transaction;
    const rate = this.#of(transaction.rate);
    const cost = Math.min(transaction.cost, rate.burst);
    const incrementTicks = cost * rate.emissionIntervalTicks;
    return { ...transaction, rate, cost, incrementTicks, fitTicks: rate.toleranceTicks, capTicks: rate.toleranceTicks };
  }

  #of(rate: Rate): Rate {
    let local = this.#derived.get(rate);
    if (local === undefined) this.#derived.set(rate, (local = localRate(rate, this.#gateways)));
    return local;
  }
}
