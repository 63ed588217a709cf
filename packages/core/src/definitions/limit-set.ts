import { complaint, listed, shown, SluiceError } from '../checks/errors.ts';
import type { EventSink } from '../events/event.ts';
import type { AnswerWaits } from '../time/answer-waits.ts';
import { kindsIn, type CountedNumbers } from '../kinds/kind.ts';
import { defineLimits } from './define-limits.ts';
import type { StoreCalls } from '../store/store-calls.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';
import { levelsOf } from '../limits/levels.ts';
import type { Limit, LimitMap, RateLookup } from '../limits/limit.ts';
import type { Limits } from './limit-definition.ts';
import { guess } from '../checks/options.ts';
import { remainingTokens } from '../rule/gcra.ts';
import { andWait, shareOfRoom, type Numbers } from '../rule/rate.ts';
import type { CurrentOverrides } from './overrides/limit-overrides.ts';
import { AskedOverrides, type OverrideFunction } from './overrides/override-function.ts';
import { usualUse, type Use } from '../limits/use.ts';
import { listOverrides, OverrideList, type OverrideTable } from './overrides/override-list.ts';

/** Limits and overrides as a user writes them. */
export interface LimitSetOptions<Request = unknown, Name extends string = string> {
  /** The limits by name. */
  readonly limits: Limits<Request, Name>;
  /** Other numbers for some ids: a table by limit and id, an `OverrideList`, or a function that returns them. */
  readonly overrides?: OverrideTable | OverrideList | OverrideFunction<Request> | undefined;
}

/** What a limiter passes to the definition of its limit set. */
export interface LimitSetContext {
  readonly onFailure: FailurePolicy;
  /** The waits for `overrides` functions. */
  readonly waits: AnswerWaits;
  readonly emit: EventSink;
  readonly calls: StoreCalls;
}

/** Limits and overrides that were validated together. Immutable: a limiter replaces it as a whole. */
export interface LimitSet<Request = unknown> {
  readonly limits: ReadonlyMap<string, Limit<Request>>;
  /** How calls without a cost, a mode and a share use each limit, by the name of the limit. */
  readonly usual: ReadonlyMap<string, Use>;
  /** Undefined if each id has the numbers of its limit. */
  readonly rateFor: RateLookup | undefined;
  /** Whether an override may have a queue that its limit has not. */
  readonly overridesCanWait: boolean;
  /** The listed overrides by the name of their limit; undefined when a function returns them. */
  readonly listed?: ReadonlyMap<string, CurrentOverrides>;
}

/**
 * Validates limits and overrides together.
 *
 * @throws {SluiceError} For the first invalid limit or override.
 */
export function defineLimitSet<Request>(
  { limits: definitions, overrides = {} }: LimitSetOptions<Request>,
  { onFailure, waits, emit, calls }: LimitSetContext,
): LimitSet<Request> {
  const defined = defineLimits(definitions, onFailure, calls);
  const asked = typeof overrides === 'function' ? new AskedOverrides(overrides, waits, emit) : undefined;
  const table = (asked ? {} : overrides) as OverrideTable | OverrideList;
  const list = table instanceof OverrideList ? table : listOverrides(table, defined);
  const current = list.checkLimits(defined, calls.time);
  const limits = connected(defined, (limit) => current.get(limit)?.numbers());
  list.seal();
  return {
    limits,
    usual: new Map([...limits].map(([name, limit]) => [name, usualUse(limit)])),
    rateFor: unlessDisabled(
      limits,
      asked?.rateFor ?? (list.isEmpty ? undefined : (limit, id) => current.get(limit.name)?.rateOf(id) ?? limit.rate),
    ),
    overridesCanWait: asked !== undefined || [...current.values()].some(({ all }) => all.canWait),
    ...(asked === undefined && { listed: current }),
  };
}

/** Connects the limits that depend on others of the set. */
function connected<Request>(
  limits: LimitMap<Request>,
  numbersOf: (limit: string) => Iterable<CountedNumbers> | undefined,
): LimitMap<Request> {
  let all = limits;
  for (const { links } of kindsIn(limits)) if (links !== undefined) all = links.connected(all, numbersOf);
  return all;
}

// A disabled limit applies to no id.
function unlessDisabled(
  limits: ReadonlyMap<string, Limit<never>>,
  rateFor: RateLookup | undefined,
): RateLookup | undefined {
  if ([...limits.values()].every(({ disabled }) => !disabled)) return rateFor;
  return (limit, id, request) => (limit.disabled ? 'unlimited' : (rateFor?.(limit, id, request) ?? limit.rate));
}

/**
 * Returns a limit by its name.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, with the names of the limits.
 */
export function limitNamed<Request>({ limits }: Pick<LimitSet<Request>, 'limits'>, name: string): Limit<Request> {
  return limits.get(name) ?? unknownLimit(name, limits);
}

/**
 * Returns how calls without a cost, a mode and a share use a limit.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, with the names of the limits.
 */
export function usualUseOf({ usual, limits }: Pick<LimitSet<never>, 'usual' | 'limits'>, name: string): Use {
  return usual.get(name) ?? unknownLimit(name, limits);
}

function unknownLimit(name: unknown, limits: ReadonlyMap<string, unknown>): never {
  const known =
    limits.size === 0 ? 'This limiter has no limits: give createLimiter some.' : `Limits: ${listed(limits.keys())}.`;
  if (typeof name !== 'string') {
    const demand = 'the name of a limit';
    throw complaint('ERR_UNKNOWN_LIMIT', { option: 'limit', demand, value: name, remedy: known });
  }
  const hint = guess(name, [...limits.keys()]);
  throw new SluiceError('ERR_UNKNOWN_LIMIT', `No limit is named ${shown(name)}.${hint} ${known}`);
}

/** What a middleware needs of a limit. */
export interface LimitNeed {
  readonly limit: string;
  /** The fixed cost; 0 if it is a function. */
  readonly cost: number;
  /** The fixed share; 1 if it is a function. */
  readonly share: number;
}

/** A fixed cost of a limit, and the option that it was given by. */
export interface FixedCost {
  readonly limit: string;
  readonly cost: number;
  readonly option: string;
}

/**
 * Rejects a set that a middleware can't use: it needs the limit, a key that gets an id from a request, and a fixed cost
 * that fits into the burst of each id, or into a fixed share of it.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, `ERR_KEY` or `ERR_COST_OVER_BURST`.
 */
export function checkNeeded(set: LimitSet<never>, { limit: name, cost, share }: LimitNeed): void {
  const limit = limitNamed(set, name);
  if (limit.key.idOf === undefined) {
    throw new SluiceError(
      'ERR_KEY',
      `The key of limit "${name}" has no function, so a middleware can't get an id from a request. Give it one, e.g. ` +
        `key: accountId((req) => req.user?.id ?? null), or use the limit only with limiter.spend().`,
    );
  }
  if (share === 1) return checkFixedCost(set, { limit: name, cost, option: 'cost' });
  if (boundsCosts(limit)) checkShared(set, limit, { cost, share });
}

/**
 * Rejects a fixed cost that does not fit into the burst of each id.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_LIMIT` or `ERR_COST_OVER_BURST`.
 */
export function checkFixedCost(set: LimitSet<never>, { limit: name, cost, option }: FixedCost): void {
  const limit = limitNamed(set, name);
  const most = leastOf(set, limit, ({ burst }) => burst).burst;
  if (cost <= most || !boundsCosts(limit)) return;
  const { size } = limit.kind;
  throw complaint('ERR_COST_OVER_BURST', {
    option,
    limit: name,
    demand: `at most ${most}, the smallest ${size} of the limit and its overrides`,
    value: cost,
    remedy: `A larger cost could never pass. Raise the ${size} or lower the cost.`,
  });
}

/**
 * Whether a limit can be too small for a cost. A disabled one denies nothing; when a new set enables it, costs are validated
 * again. A load limit has no numbers.
 */
function boundsCosts({ disabled, kind }: Limit<never>): boolean {
  return !disabled && kind.level !== 'own';
}

/** Returns the numbers of a limit or one of its listed overrides: those that have least of something. */
function leastOf({ listed: overrides }: LimitSet<never>, limit: Limit<never>, of: (rate: Numbers) => number): Numbers {
  let least = limit.rate;
  for (const { rate } of overrides?.get(limit.name)?.numbers() ?? []) if (of(rate) < of(least)) least = rate;
  return least;
}

/** Rejects a cost that does not fit into a share of the room of each id. */
function checkShared(
  set: LimitSet<never>,
  limit: Limit<never>,
  { cost, share }: Pick<LimitNeed, 'cost' | 'share'>,
): void {
  // The burst alone does not decide: with a maxWait, a slower rate has room for fewer tokens.
  const mostOf = (rate: Numbers): number => {
    const fitTicks = shareOfRoom(rate, levelsOf(rate, limit).fitTicks, share);
    return Math.min(rate.burst, remainingTokens(0, rate.emissionIntervalTicks, fitTicks));
  };
  const least = leastOf(set, limit, mostOf);
  const most = mostOf(least);
  if (cost <= most) return;
  const { size } = limit.kind;
  const room = `${least.burst}${andWait(levelsOf(least, limit).fitTicks - least.toleranceTicks)}`;
  throw complaint('ERR_COST_OVER_BURST', {
    option: 'cost',
    limit: limit.name,
    demand: `at most ${most}, the whole tokens in a share of ${share} of the ${size}, ${room}, the least of the limit and its overrides`,
    value: cost,
    remedy: `A larger cost could never pass. Raise the share or the ${size}, or lower the cost.`,
  });
}
