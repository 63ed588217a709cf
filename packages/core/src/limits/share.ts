import { complaint, type SluiceError } from '../checks/errors.ts';
import { remainingTokens } from '../rule/gcra.ts';
import { andWait, shareOfRoom, type Numbers } from '../rule/rate.ts';
import type { Mode } from '../store/store.ts';

/**
 * Rejects a share that is not above 0 and at most 1, or that a mode ignores.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkShare(limit: string, share: unknown, mode: Mode): void {
  if (share === 1) return;
  if (mode === 'charge') throw shareOfCharge(limit, share);
  if (typeof share !== 'number' || !(share > 0 && share < 1)) throw badShare(limit, share);
}

/** A cost in tokens that is to fit into a share of a limit's room. */
interface SharedCost {
  readonly limit: string;
  readonly cost: number;
  readonly share: number;
  /** The level of an empty bucket, and the longest delay more. */
  readonly roomTicks: number;
}

/**
 * Returns the level up to which a transaction with a share fits: that share of the bucket and of the longest delay.
 *
 * @param rate - The numbers of the id. The numbers of a blocked id have no room, and no cost is too high for them.
 * @throws {SluiceError} `ERR_COST_OVER_BURST` for a cost that does not fit into the share of an unused bucket: it could
 * never pass.
 */
export function fitTicksOf({ limit, cost, share, roomTicks }: SharedCost, rate: Numbers): number {
  const fitTicks = shareOfRoom(rate, roomTicks, share);
  if (cost * rate.emissionIntervalTicks <= fitTicks) return fitTicks;
  const most = remainingTokens(0, rate.emissionIntervalTicks, fitTicks);
  const { size } = rate.kind;
  throw complaint('ERR_COST_OVER_BURST', {
    option: 'cost',
    limit,
    demand: `at most ${most}, the whole tokens in a share of ${share} of the ${size}, ${rate.burst}${andWait(roomTicks - rate.toleranceTicks)}`,
    value: cost,
    remedy: `Such a request could never pass, however long it waits. Raise the share or the ${size}, or lower the cost.`,
    status: 400,
  });
}

function badShare(limit: string, value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'share',
    limit,
    demand: 'a number above 0, at most 1',
    value,
    remedy:
      'For example share: 0.8 for a request that may fill 80 % of the bucket. For the whole bucket, leave it out.',
  });
}

function shareOfCharge(limit: string, value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'share',
    limit,
    demand: "left out with mode 'charge'",
    value,
    remedy: 'A charge takes its cost whether it fits or not. For a cost that has to fit, use another mode.',
  });
}
