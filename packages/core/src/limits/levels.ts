import { debtOf, type Numbers } from '../rule/rate.ts';
import { MAX_TOLERANCE_TICKS } from '../rule/ticks.ts';

/**
 * The numbers of a bucket, and how far its level may rise. Worked out once for a limit; its constructor is the only place
 * that makes levels, so that they all have one hidden class, whose properties V8 finds fast.
 */
export class Levels {
  readonly rate: Numbers;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
  /** A request fits up to here: an empty bucket and the longest delay more, or its share of both. */
  readonly fitTicks: number;
  /**
   * A charge goes up to here: an empty bucket, and `maxDebt` tokens or the longest delay more. It is never below the
   * end of the queue, so that a charge does not shorten the queue of others.
   */
  readonly capTicks: number;
  /** The level of an empty bucket, above which requests wait in a queue. Undefined if they never wait. */
  readonly lineTicks: number | undefined;

  constructor({ rate, overridden, fitTicks, capTicks, lineTicks }: Levels) {
    this.rate = rate;
    this.overridden = overridden;
    this.fitTicks = fitTicks;
    this.capTicks = capTicks;
    this.lineTicks = lineTicks;
  }
}

/**
 * Returns the levels of an id. The levels of ids with the numbers of the limit are known from its definition.
 *
 * @param rate - The numbers of the id. A debt that they inherit from the limit is limited so that the bucket refills
 * within ten years.
 */
export function levelsOf(rate: Numbers, limit: { readonly rate: Numbers; readonly levels: Levels }): Levels {
  return rate === limit.rate ? limit.levels : levelsFrom(rate, limit.rate);
}

/** @param own - The numbers of the limit. */
export function levelsFrom(rate: Numbers, own: Numbers): Levels {
  const { toleranceTicks, emissionIntervalTicks, waitTicks = own.waitTicks ?? 0 } = rate;
  const aboveTicks = Math.max(debtOf(rate, own) * emissionIntervalTicks, waitTicks);
  const capTicks = Math.min(toleranceTicks + aboveTicks, MAX_TOLERANCE_TICKS);
  const fitTicks = Math.min(toleranceTicks + waitTicks, capTicks);
  const lineTicks = fitTicks === toleranceTicks ? undefined : toleranceTicks;
  return new Levels({ rate, overridden: rate !== own, fitTicks, capTicks, lineTicks });
}
