import type { Rate } from '../rule/rate.ts';
import { remainingTokens, shareOf } from '../rule/gcra.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { Charge } from '../decision/batch-answer.ts';

/**
 * Returns one process's part of a limit that `gateways` processes share: the interval T × gateways, and burst /
 * gateways rounded down, at least 1. Together the parts allow the limit's own rate and, at one instant, the larger of
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
 * Converts transactions and charges to this process's part. Each rate is converted once and cached while it is in use.
 */
export class LocalRates {
  readonly #gateways: number;
  readonly #derived = new WeakMap<Rate, Rate>();

  constructor(gateways: number) {
    this.#gateways = gateways;
  }

  /**
   * Returns a transaction with local numbers, and the same share of the local bucket: at least one token. A cost above
   * what can fit takes all of it; otherwise it would be denied during the entire outage.
   */
  localized<T extends Charge>(transaction: T): T {
    if (this.#gateways === 1) return transaction;
    const rate = this.#of(transaction.rate);
    const fitTicks = localFitTicks(transaction, rate);
    const cost = Math.min(transaction.cost, remainingTokens(0, rate.emissionIntervalTicks, fitTicks));
    const incrementTicks = cost * rate.emissionIntervalTicks;
    return { ...transaction, rate, cost, incrementTicks, fitTicks, capTicks: rate.toleranceTicks };
  }

  #of(rate: Rate): Rate {
    let local = this.#derived.get(rate);
    if (local === undefined) this.#derived.set(rate, (local = localRate(rate, this.#gateways)));
    return local;
  }
}

function localFitTicks({ fitTicks, rate }: Charge, local: Rate): number {
  if (fitTicks === rate.toleranceTicks) return local.toleranceTicks;
  return Math.max(local.emissionIntervalTicks, shareOf(local.toleranceTicks, fitTicks / rate.toleranceTicks));
}
