import type { Limits } from '../../packages/core/src/definitions/limit-definition.ts';
import { everyone } from '../../packages/core/src/keys/everyone.ts';

/** The numbers of one limit, as they are typed: core validates them, and its messages are shown. */
export interface TypedLimit {
  readonly burst: string;
  readonly count: string;
  readonly period: string;
  /** Empty for a limit without a queue. */
  readonly maxWait: string;
}

/** One request of a timeline. */
export interface Arrival {
  readonly atMs: number;
  /** Tokens. */
  readonly cost: number;
}

/** All that a link shows: one limit or two, and requests in the order of time. */
export interface Case {
  readonly limits: readonly TypedLimit[];
  /** The cost of requests that are sent by hand. */
  readonly cost: string;
  readonly arrivals: readonly Arrival[];
}

/** The names of the limits in a case, in their order. */
export const NAMES: readonly [string, string] = ['PerClient', 'Sustained'];

/** More requests would be too many for one picture. */
export const MOST_ARRIVALS = 500;

export const SECOND_LIMIT: TypedLimit = { burst: '20', count: '10', period: '1m', maxWait: '' };

/** Two bursts around the edge of a window, which a fixed window lets through both. */
export const FIRST_CASE: Case = {
  limits: [{ burst: '5', count: '5', period: '1s', maxWait: '' }],
  cost: '1',
  arrivals: [900, 920, 940, 960, 980, 1000, 1020, 1040, 1060, 1080, 1900, 2100].map((atMs) => ({ atMs, cost: 1 })),
};

/** The limits of a case as core takes them. */
export function definitionsOf({ limits }: Pick<Case, 'limits'>): Limits {
  const key = everyone();
  return Object.fromEntries(
    limits.map(({ burst, count, period, maxWait }, i) => [
      NAMES[i]!,
      {
        key,
        ...(burst.trim() !== '' && { burst: Number(burst) }),
        count: Number(count),
        period: period.trim(),
        ...(maxWait.trim() !== '' && { maxWait: maxWait.trim() }),
      },
    ]),
  );
}
