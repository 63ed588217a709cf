import type { Duration, Limiter } from '@sluice/core';
import {
  checkBoolean,
  checkFunction,
  checkOptions,
  complaint,
  durationTicks,
  emitOf,
  isEveryone,
  isPlainObject,
  limitsOf,
  oneOf,
  wholeNumber,
  type EventSink,
} from '@sluice/core/kit';
import type { CallParams } from './call-params.ts';
import { MOST_TOKENS, type Estimate, type Estimating } from './estimate.ts';
import { fixedCost } from './fixed-cost.ts';
import { checkedTurns, TURN_OPTIONS, type TurnOptions, type Turns } from './turns.ts';
import { checkedWeights, EACH_TOKEN, type Tokens, type Weights } from './weights.ts';

/**
 * What a call costs at a limit: a number for each call, the tokens that it uses, or these by {@link Weights}, such as
 * micro-dollars. At a concurrency limit it is a number.
 */
export type CostOfCall = number | 'tokens' | Weights;

/** For whom a call is made: one id at all limits, or an id for each. A limit of `everyone()` needs none. */
export type IdOfCall<Name extends string = string> = string | Readonly<Partial<Record<Name, string>>>;

/** What {@link budget} and {@link around} have in common. `Args` are those of `id` and `estimate`. */
export interface LimitsOfCalls<Name extends string, Args extends readonly unknown[]> extends TurnOptions<Name, Args> {
  /** The limits of a call, and what it costs at each. They are decided together. */
  readonly limits: Readonly<Partial<Record<Name, CostOfCall>>>;
  /**
   * For whom a call is made. A function is called with the arguments of the call. Required, unless all limits have the key
   * `everyone()`.
   */
  readonly id?: IdOfCall<Name> | ((...args: Args) => IdOfCall<Name> | undefined) | undefined;
  /**
   * Estimates a call before it is made. What it leaves out is estimated as usual: a token for four bytes of what the
   * model is shown as text, 1,000 for a file, and the most tokens that the call allows its answers. A call that continues what
   * the provider keeps, such as a conversation, is an error without an `input`.
   */
  readonly estimate?: ((...args: Args) => Estimate | undefined) | undefined;
  /** The estimate of the answer for calls that don't bound it, which are errors otherwise. */
  readonly maxOutput?: number | undefined;
  /**
   * A stream that nobody has read for this time, or up to a tenth longer, is abandoned. One that is read, but of which the
   * provider sends nothing for so long, loses its slots; its usage counts when it comes. From `'1s'` to `'24h'`. Default:
   * `'2m'`.
   */
  readonly idle?: Duration | undefined;
  /**
   * What happens to a stream that is abandoned, or that its reader has left. `'cancel'` stops the provider; the estimate stays
   * charged, because the bill is unknown. `'drain'` reads the rest, for its usage, and keeps the slots until then; a reader that
   * comes back has an error. Default: `'cancel'`.
   */
  readonly onAbandoned?: 'cancel' | 'drain' | undefined;
  /** Whether a call waits for its turn at limits with `maxWait`. Its signal ends the wait. Not with a scheduler. Default: false. */
  readonly wait?: boolean | undefined;
}

/** The options of {@link budget}. */
export interface BudgetOptions<Name extends string = string> extends LimitsOfCalls<Name, readonly [CallParams]> {
  /**
   * Whether the AI SDK tries a denied call again by its `maxRetries`, after the wait of the decision. A wait of a minute or
   * more is not retried. Not with a scheduler. Default: false.
   */
  readonly retry?: boolean | undefined;
}

/** A limit of a budget. */
interface BudgetLimit {
  readonly name: string;
  readonly isEveryone: boolean;
  /** A fixed cost, or the weights of tokens. */
  readonly cost: number | Tokens;
}

/** What ends of a call are settled by. */
export interface Settling {
  readonly limiter: Limiter;
  readonly emit: EventSink;
  readonly limits: readonly BudgetLimit[];
  /** Whether a limit counts tokens. */
  readonly hasTokens: boolean;
  readonly idleMs: number;
  readonly onAbandoned: 'cancel' | 'drain';
}

/** The checked options of a budget. */
export interface Budget<Args extends readonly unknown[]> extends Estimating<Args>, Settling {
  readonly id: LimitsOfCalls<string, Args>['id'];
  /** Undefined if a limiter decides at once. */
  readonly turns: Turns<Args> | undefined;
  readonly wait: boolean;
  readonly retry: boolean;
}

export const COMMON_OPTIONS: readonly string[] = [
  ...TURN_OPTIONS,
  'limits',
  'id',
  'estimate',
  'maxOutput',
  'idle',
  'onAbandoned',
  'wait',
];
const IDLE = { minMs: 1000, maxMs: 86_400_000, demand: "from '1s' to '24h'" };
const TICKS_PER_MS = 16_000;

/** The name of a function, its options, and how it is written, for errors. */
export interface Asked {
  readonly of: string;
  readonly known: readonly string[];
  readonly example: string;
}

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_COST_OVER_BURST`, `ERR_DURATION`. */
export function checkedBudget<Args extends readonly unknown[]>(
  { of, known, example }: Asked,
  options: LimitsOfCalls<string, Args> & { readonly retry?: boolean | undefined },
): Budget<Args> {
  checkOptions(of, options, known, {}, example);
  const { limits, id, estimate, maxOutput, idle = '2m', wait = false, retry = false } = options;
  const { limiter, turns } = checkedTurns(of, options);
  const emit = emitOf(limiter);
  checkFunction(`${of}.estimate`, estimate, 'For example estimate: (params) => ({ input: countTokens(params) }).');
  checkBoolean(`${of}.wait`, wait);
  checkBoolean(`${of}.retry`, retry);
  if (maxOutput !== undefined) wholeNumber(`${of}.maxOutput`, maxOutput, { min: 0, max: MOST_TOKENS });
  if (!isPlainObject(limits) || Object.keys(limits).length === 0) throw noLimits(of, limits, example);
  const checked = Object.entries(limits).map(([name, cost]) =>
    checkedLimit(limiter, name, `${of}.limits.${name}`, cost),
  );
  const isMissing = id === undefined || id === null;
  if (isMissing && checked.some((limit) => !limit.isEveryone)) throw noId(of, id);
  return {
    of,
    limiter,
    turns,
    emit,
    limits: checked,
    hasTokens: checked.some(({ cost }) => typeof cost !== 'number'),
    id,
    estimate,
    maxOutput,
    idleMs: durationTicks(`${of}.idle`, idle, IDLE) / TICKS_PER_MS,
    onAbandoned: oneOf(`${of}.onAbandoned`, options.onAbandoned ?? 'cancel', ['cancel', 'drain']),
    wait,
    retry,
  };
}

function checkedLimit(limiter: Limiter, name: string, option: string, cost: CostOfCall | undefined): BudgetLimit {
  // Throws for a limit that does not exist.
  limiter.limit(name);
  const { key, kind } = limitsOf(limiter).get(name)!;
  const common = { name, isEveryone: isEveryone(key) };
  if (typeof cost === 'number') return { ...common, cost: fixedCost(limiter, { limit: name, cost, option }) };
  if (kind.level === 'held') throw noSlots(option, cost);
  return { ...common, cost: cost === 'tokens' ? EACH_TOKEN : checkedWeights(option, cost as Weights) };
}

/** Creates the error for `limits` without a limit. */
export function noLimits(of: string, value: unknown, example: string): Error {
  const demand = 'an object of costs by the names of limits';
  return complaint('ERR_OPTION', { option: `${of}.limits`, demand, value, remedy: `For example ${example}.` });
}

/** The error of a call, or of all calls, without an id. */
export function noId(of: string, value: unknown, limit?: string): Error {
  const example =
    of === 'budget' ? '({ providerOptions }) => providerOptions?.app?.user as string' : '(params, { user }) => user';
  const remedy = `For example id: ${example}. Without one, all callers would share a budget.`;
  const demand = `a text, or texts by the names of limits${limit === undefined ? '' : `, with one for "${limit}"`}`;
  return complaint('ERR_ID', { option: `${of}.id`, demand, value, remedy });
}

function noSlots(option: string, value: unknown): Error {
  const remedy = 'It counts calls in progress: write 1.';
  return complaint('ERR_OPTION', { option, demand: 'a number, because it is a concurrency limit', value, remedy });
}
