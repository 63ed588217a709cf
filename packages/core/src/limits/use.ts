import { rateOfBlocked, type Numbers } from '../rule/rate.ts';
import type { Mode } from '../store/store.ts';
import { Levels, levelsOf } from './levels.ts';
import type { Limit } from './limit.ts';
import { fitTicksOf } from './share.ts';

/** One limit, as requests use it: with a cost, a mode and a share. */
export class Use {
  readonly limit: Limit<never>;
  /** Tokens, a whole number of at least 0. */
  readonly cost: number;
  readonly mode: Mode;
  /** The part of the bucket that a request may use up: above 0, at most 1. */
  readonly share: number;
  /** The levels of the last id. The levels of ids with the same numbers, which most ids have, are worked out once. */
  last: Levels | undefined;

  constructor(limit: Limit<never>, cost: number, mode: Mode, share: number) {
    this.limit = limit;
    this.cost = cost;
    this.mode = mode;
    this.share = share;
    this.last = undefined;
  }

  /**
   * Returns the levels of an id with other numbers than the last one.
   *
   * @param override - The numbers of the id.
   * @throws {SluiceError} `ERR_COST_OVER_BURST` for a cost that does not fit into a share below 1.
   */
  levelsFor(override: Numbers | 'blocked'): Levels {
    const { limit, cost, share } = this;
    const rate = override === 'blocked' ? rateOfBlocked(limit.rate) : override;
    const levels = levelsOf(rate, limit);
    // A load has no room, and denies by its share alone.
    if (share === 1 || limit.kind.level === 'own') return (this.last = levels);
    const fitTicks = fitTicksOf({ limit: limit.name, cost, share, roomTicks: levels.fitTicks }, rate);
    return (this.last = new Levels(Object.assign({}, levels, { fitTicks })));
  }
}

/** Returns how calls without a cost, a mode and a share use a limit: they take one token of the whole bucket. */
export function usualUse(limit: Limit<never>): Use {
  return new Use(limit, 1, 'check-and-spend', 1);
}
