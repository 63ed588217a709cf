import { plainNumbers, shareOfRoom, type Numbers } from '../rule/rate.ts';
import { remainingTokens } from '../rule/gcra.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';
import type { Charge } from '../decision/batch-answer.ts';
import { readyTicks, type Transaction } from '../decision/transaction.ts';

/**
 * Returns one process's part of a limit that `gateways` processes share: the interval T × gateways, and burst /
 * gateways rounded down, at least 1. Together the parts allow the limit's own rate and, at one instant, the larger of
 * its burst and `gateways`. Of a quota, each has count / gateways rounded down, at least 1, in each period; of slots the
 * same part.
 *
 * T is capped at ten years, the longest time that ticks allow for a bucket to fill.
 */
export function localRate(rate: Numbers, gateways: number): Numbers {
  const burst = Math.max(1, Math.floor(rate.burst / gateways));
  // A token of a quota, or a slot, is one tick in every process.
  if (rate.kind.level !== 'falls') return { ...rate, burst, count: burst, toleranceTicks: burst };
  // Only a burst of 1 can reach the cap: with a larger burst, the tolerance is at most that of the limit.
  const emissionIntervalTicks = Math.min(rate.emissionIntervalTicks * gateways, MAX_TOLERANCE_TICKS);
  return plainNumbers({
    burst,
    count: rate.count,
    periodMs: rate.periodMs * (emissionIntervalTicks / rate.emissionIntervalTicks),
    emissionIntervalTicks,
    toleranceTicks: burst * emissionIntervalTicks,
    kind: rate.kind,
  });
}

/**
 * Converts transactions and charges to this process's part. Each rate is converted once and cached while it is in use.
 */
export class LocalRates {
  readonly #gateways: number;
  readonly #derived = new WeakMap<Numbers, Numbers>();

  constructor(gateways: number) {
    this.#gateways = gateways;
  }

  /**
   * Returns a transaction with local numbers, and the same share of the local bucket: at least one token. A cost that
   * can't fit takes all of the bucket; otherwise it would be denied during the entire outage. The longest delay, and
   * the time to pay back the largest debt, are those of the limit.
   */
  localized(transaction: Transaction): Transaction {
    if (transaction.mode === 'charge') return this.localizedCharge(transaction);
    if (this.#gateways === 1) return transaction;
    const local = this.#local(transaction);
    return withCostUpTo(readyTicks(local), local);
  }

  /** Returns a charge with local numbers. A higher cost takes as much as a charge can take. */
  localizedCharge<T extends Charge>(charge: T): T {
    if (this.#gateways === 1) return charge;
    const local = this.#local(charge);
    const upToCap = withCostUpTo(local.capTicks, local);
    // A charge of all, as a restriction is, need not be whole tokens.
    return charge.incrementTicks < charge.capTicks ? upToCap : { ...upToCap, incrementTicks: local.capTicks };
  }

  #local<T extends Charge>(transaction: T): T {
    const rate = this.#of(transaction.rate);
    return {
      ...transaction,
      rate,
      fitTicks: localFitTicks(transaction, rate),
      capTicks: aboveLocal(transaction.capTicks, transaction, rate),
      lineTicks: transaction.lineTicks === undefined ? undefined : rate.toleranceTicks,
    };
  }

  #of(rate: Numbers): Numbers {
    let local = this.#derived.get(rate);
    if (local === undefined) this.#derived.set(rate, (local = localRate(rate, this.#gateways)));
    return local;
  }
}

/**
 * Converts a level above that of an empty bucket. The time above it stays the same: for a delay, and also for a debt,
 * because the local T is longer by the factor by which the tokens are fewer.
 */
function aboveLocal(ticks: number, { rate }: Charge, local: Numbers): number {
  return Math.min(local.toleranceTicks + (ticks - rate.toleranceTicks), MAX_TOLERANCE_TICKS);
}

function withCostUpTo<T extends Charge>(ticks: number, transaction: T): T {
  const { emissionIntervalTicks } = transaction.rate;
  const cost = Math.min(transaction.cost, remainingTokens(0, emissionIntervalTicks, ticks));
  return { ...transaction, cost, incrementTicks: cost * emissionIntervalTicks };
}

function localFitTicks(transaction: Charge, local: Numbers): number {
  const { fitTicks, rate } = transaction;
  if (fitTicks >= rate.toleranceTicks) return aboveLocal(fitTicks, transaction, local);
  return Math.max(
    local.emissionIntervalTicks,
    shareOfRoom(local, local.toleranceTicks, fitTicks / rate.toleranceTicks),
  );
}
