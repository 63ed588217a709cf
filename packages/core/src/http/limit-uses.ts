import type { Awaitable } from '../async/awaitable.ts';
import { complaint, SluiceError } from '../checks/errors.ts';
import { checkBoolean, checkFunction, checkOptions, oneOf } from '../checks/options.ts';
import { checkCost } from '../decision/batch.ts';
import { checkShare } from '../limits/share.ts';
import { LIMIT_AND_COST_HINTS } from '../limiter/entries.ts';
import type { PreparedLimits } from '../limiter/prepared-limits.ts';
import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { MODES, type Mode } from '../store/store.ts';

/** One limit of a middleware, and the cost of a request. */
export interface LimitUse<
  Request = unknown,
  SettleArgs extends readonly unknown[] = readonly unknown[],
  Name extends string = string,
> {
  readonly limit: Name;
  /** The cost of a request in tokens, a whole number from 0 to the burst, or a function that returns it. Default: 1. */
  readonly cost?: number | ((request: Request) => Awaitable<number>) | undefined;
  /** How the limit takes part in the decision, see {@link Mode}. Default: `check-and-spend`. */
  readonly mode?: Mode | undefined;
  /**
   * The part of the bucket that a request may use up, above 0 and at most 1, or a function that returns it. What is left
   * above it stays for requests with a larger share. The decision and the header fields report what this request has
   * left. Not with mode `charge`. Default: 1.
   */
  readonly share?: number | ((request: Request) => Awaitable<number>) | undefined;
  /**
   * Returns the true cost, a whole number of at least 0, when the response has finished. With `check-and-spend`, `cost`
   * is taken first, and the difference is refunded or charged. With `check-only`, nothing is taken first, and the true
   * cost is charged. If the client disconnects before, or the function throws, the full cost is taken. The last
   * argument describes how the response ended.
   */
  readonly settle?: ((...args: readonly [...SettleArgs, ResponseEnd]) => Awaitable<number>) | undefined;
  /**
   * Whether to call `settle` also for a response that the client aborted, if the cost is known then: for a stream, the
   * part that was produced. The function must count the work that was done. A client that disconnects before the
   * handler runs is charged the full cost in any case. Default: false.
   */
  readonly settleAborted?: boolean | undefined;
}

/** How the response to a request ended. */
export interface ResponseEnd {
  /**
   * True when all of the response was handed to the operating system; false when the client disconnected or reset its
   * HTTP/2 stream before.
   */
  readonly finished: boolean;
}

/** One limit of a middleware, validated and with defaults. */
export interface CheckedUse<Request, SettleArgs extends readonly unknown[]> extends LimitUse<Request, SettleArgs> {
  readonly cost: number | ((request: Request) => Awaitable<number>);
  readonly mode: Mode;
  readonly share: number | ((request: Request) => Awaitable<number>);
}

/** A limit whose true cost is known when the response has ended. */
interface SettlingUse<Request, SettleArgs extends readonly unknown[]> extends CheckedUse<Request, SettleArgs> {
  readonly settle: NonNullable<LimitUse<Request, SettleArgs>['settle']>;
}

/** The limits of a middleware or route, validated and prepared. */
export interface UsedLimits<Request, SettleArgs extends readonly unknown[]> {
  readonly uses: readonly CheckedUse<Request, SettleArgs>[];
  /** The {@link uses} with a `settle` function. */
  readonly settling: readonly SettlingUse<Request, SettleArgs>[];
  readonly prepared: PreparedLimits<Request>;
}

/** The options of a limit's use, beside its name. */
export const USE_OPTIONS = ['cost', 'mode', 'share', 'settle', 'settleAborted'] as const;
const USE_EXAMPLE = "limits: [{ limit: 'Orders', cost: 10 }]";
const MAX_NAMES = 30;

/**
 * Validates and prepares the limits of one route or middleware.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, `ERR_DUPLICATE_BUCKET`, `ERR_COST_OVER_BURST`, or the error of a wrong
 * option.
 */
export function limitUses<Request, SettleArgs extends readonly unknown[]>(
  limiter: RequestLimiter<Request>,
  limits: readonly (string | LimitUse<Request, SettleArgs>)[] | undefined,
): UsedLimits<Request, SettleArgs> {
  const names = limiter.limitNames;
  if (names.length === 0 || (limits === undefined && names.length > 1)) throw limitsMissing(names);
  const chosen = limits ?? names;
  if (!Array.isArray(chosen) || chosen.length === 0) {
    const remedy = `For example limits: ['${names.find((name) => name === (limits as unknown)) ?? names[0]}'].`;
    throw complaint('ERR_OPTION', {
      option: 'limits',
      demand: 'an array of at least one limit',
      value: chosen,
      remedy,
    });
  }
  const uses = chosen.map((use: string | LimitUse<Request, SettleArgs>) =>
    checkedUse(limiter, typeof use === 'string' ? { limit: use } : use),
  );
  uses.forEach(({ limit }, i) => {
    if (uses.findIndex((use) => use.limit === limit) === i) return;
    throw new SluiceError('ERR_DUPLICATE_BUCKET', `names "${limit}" twice. Name it once, with the sum of the costs.`, {
      path: 'limits',
    });
  });
  return preparedUses(limiter, uses);
}

function limitsMissing(names: readonly string[]): SluiceError {
  if (names.length === 0) {
    const remedy = "createLimiter({ limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } } })";
    return new SluiceError('ERR_OPTION', `must have a limit, but has none. For example ${remedy}.`, {
      path: 'limiter',
    });
  }
  const all = names.slice(0, MAX_NAMES).map((name) => `'${name}'`);
  const remedy = `The limiter has ${names.length} limits. Write those that apply here: limits: [${all.join(', ')}].`;
  return complaint('ERR_OPTION', { option: 'limits', demand: 'given', value: undefined, remedy });
}

/**
 * Validates the use of one limit.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, `ERR_COST`, or the error of a wrong option.
 */
export function checkedUse<Request, SettleArgs extends readonly unknown[]>(
  limiter: RequestLimiter<Request>,
  use: LimitUse<Request, SettleArgs>,
): CheckedUse<Request, SettleArgs> {
  checkOptions('limits[…]', use, ['limit', ...USE_OPTIONS], LIMIT_AND_COST_HINTS, USE_EXAMPLE);
  const { limit, cost = 1, mode = 'check-and-spend', share = 1, settle, settleAborted = false } = use;
  const where = `limits.${limit}`;
  limiter.assertLimit(limit);
  if (typeof cost !== 'function') checkCost(limit, cost);
  checkFunction(
    `${where}.settle`,
    settle,
    'It returns the true cost, e.g. settle: (req, res) => (res.statusCode === 401 ? 1 : 0).',
  );
  checkBoolean(`${where}.settleAborted`, settleAborted);
  if (settleAborted && settle === undefined) {
    const remedy =
      'It is called for aborted responses too, e.g. settle: (req, res, { finished }) => res.locals.tokens.';
    throw complaint('ERR_OPTION', {
      option: `${where}.settle`,
      demand: 'given with settleAborted',
      value: settle,
      remedy,
    });
  }
  const checkedMode = oneOf(`${where}.mode`, mode, MODES);
  if (typeof share !== 'function' || mode === 'charge') checkShare(limit, share, checkedMode);
  return { limit, cost, mode: checkedMode, share, settle, settleAborted };
}

/**
 * Prepares validated uses of limits. Call it only when all options are valid, because `replace` keeps the limits
 * and their fixed costs valid from then on.
 */
export function preparedUses<Request, SettleArgs extends readonly unknown[]>(
  limiter: RequestLimiter<Request>,
  uses: readonly CheckedUse<Request, SettleArgs>[],
): UsedLimits<Request, SettleArgs> {
  return { uses, settling: uses.filter(isSettling), prepared: limiter.prepare(uses) };
}

function isSettling<Request, SettleArgs extends readonly unknown[]>(
  use: CheckedUse<Request, SettleArgs>,
): use is SettlingUse<Request, SettleArgs> {
  return use.settle !== undefined;
}
