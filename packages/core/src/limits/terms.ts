import type { Rate } from '../rule/rate.ts';
import type { Mode } from '../store/store.ts';
import type { Levels } from './levels.ts';
import type { Treatment } from './treatment.ts';

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
 * A demand with the numbers of a bucket, in ticks: all of a transaction but its id and what depends on it. Terms are worked
 * out once for all ids with the same numbers.
 */
export class Terms {
  readonly limit: string;
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
  /** How its limit is treated. */
  readonly treatment: Treatment;
  readonly slots: true | undefined;

  constructor({ limit, cost, mode, share }: Demand, levels: Omit<Levels, 'roomTicks'>, fitTicks: number) {
    const { rate, capTicks } = levels;
    const { treatment } = limit;
    this.limit = limit.name;
    this.incrementTicks = Math.min(cost * rate.emissionIntervalTicks, capTicks);
    this.fitTicks = fitTicks;
    this.capTicks = capTicks;
    this.lineTicks = levels.lineTicks;
    this.mode = mode;
    this.cost = cost;
    this.share = share;
    this.rate = rate;
    this.overridden = levels.overridden;
    this.treatment = treatment;
    this.slots = treatment.slots === undefined ? undefined : true;
  }
}
