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
  wholeNumber,
  type EventSink,
} from '@sluice/core/kit';
import type { CallParams } from './call-params.ts';
import { MOST_TOKENS, type Estimate, type Estimating } from './estimate.ts';
import { checkedWeights, EACH_TOKEN, type Tokens, type Weights } from './weights.ts';

/**
 * What a call costs at a limit: a number for each call, the tokens that it uses, or these by {@link Weights}, such as
 * micro-dollars. At a concurrency limit it is a number.
 */
export type CostOfCall = number | 'tokens' | Weights;

/** For whom a call is made: one id at all limits, or an id for each. A limit of `everyone()` needs none. */
export type IdOfCall<Name extends string = string> = string | Readonly<Partial<Record<Name, string>>>;

/** The options of {@link budget}. */
export interface BudgetOptions<Name extends string = string> {
  readonly limiter: Limiter<never, Name>;
  /** The limits of a call, and what it costs at each. They are decided together. */
  readonly limits: Readonly<Partial<Record<Name, CostOfCall>>>;
  /** For whom a call is made. A function is called with what the AI SDK hands to the model. */
  readonly id: IdOfCall<Name> | ((params: CallParams) => IdOfCall<Name> | undefined);
  /**
   * Estimates a call before it is made. What it leaves out is estimated as usual: a token for four characters of the
   * prompt, 1,000 for a file, and the `maxOutputTokens` of the call.
   */
  readonly estimate?: ((params: CallParams) => Estimate | undefined) | undefined;
  /** The estimate of the answer for calls without `maxOutputTokens`, which are errors otherwise. */
  readonly maxOutput?: number | undefined;
  /**
   * After this time without a part, a stream counts as left: its slots are released, and it is settled by what has passed.
   * What comes after that is charged. From `'1s'` to `'24h'`. Default: `'2m'`.
   */
  readonly idle?: Duration | undefined;
  /** Whether a call waits for its turn at limits with `maxWait`. Its signal ends the wait. Default: false. */
  readonly wait?: boolean | undefined;
  /**
   * Whether the AI SDK tries a denied call again by its `maxRetries`, after the wait of the decision. A wait of a minute or
   * more is not retried. Default: false.
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

/** The checked options of a budget. */
export interface Budget extends Estimating {
  readonly limiter: Limiter;
  readonly emit: EventSink;
  readonly limits: readonly BudgetLimit[];
  readonly id: IdOfCall | ((params: CallParams) => IdOfCall | undefined);
  readonly idleMs: number;
  readonly wait: boolean;
  readonly retry: boolean;
}

const OPTIONS = ['limiter', 'limits', 'id', 'estimate', 'maxOutput', 'idle', 'wait', 'retry'];
const EXAMPLE = "budget({ limiter, limits: { Requests: 1, Tokens: 'tokens' }, id: '12345678' })";
const IDLE = { minMs: 1000, maxMs: 86_400_000, demand: "from '1s' to '24h'" };
const TICKS_PER_MS = 16_000;

/** @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, `ERR_DURATION`. */
export function checkedBudget(options: BudgetOptions): Budget {
  checkOptions('budget', options, OPTIONS, {}, EXAMPLE);
  const { limiter, limits, id, estimate, maxOutput, idle = '2m', wait = false, retry = false } = options;
  checkFunction('budget.estimate', estimate, 'For example estimate: ({ prompt }) => ({ input: countTokens(prompt) }).');
  checkBoolean('budget.wait', wait);
  checkBoolean('budget.retry', retry);
  if (maxOutput !== undefined) wholeNumber('budget.maxOutput', maxOutput, { min: 0, max: MOST_TOKENS });
  if (!isPlainObject(limits) || Object.keys(limits).length === 0) throw noLimits(limits);
  if (id === undefined || id === null) throw noId(id);
  return {
    limiter,
    emit: emitOf(limiter),
    limits: Object.entries(limits).map(([name, cost]) => checkedLimit(limiter, name, cost)),
    id,
    estimate,
    maxOutput,
    idleMs: durationTicks('budget.idle', idle, IDLE) / TICKS_PER_MS,
    wait,
    retry,
  };
}

function checkedLimit(limiter: Limiter, name: string, cost: CostOfCall | undefined): BudgetLimit {
  // Throws for a limit that does not exist.
  limiter.limit(name);
  const { key, treatment } = limitsOf(limiter).get(name)!;
  return { name, isEveryone: isEveryone(key), cost: checkedCost(name, cost, treatment.slots !== undefined) };
}

function checkedCost(name: string, cost: CostOfCall | undefined, countsSlots: boolean): number | Tokens {
  const option = `budget.limits.${name}`;
  if (typeof cost === 'number') return wholeNumber(option, cost, { min: 0, max: MOST_TOKENS });
  if (countsSlots) throw noSlots(option, cost);
  return cost === 'tokens' ? EACH_TOKEN : checkedWeights(option, cost as Weights);
}

function noLimits(value: unknown): Error {
  const demand = 'an object of costs by the names of limits';
  return complaint('ERR_OPTION', { option: 'budget.limits', demand, value, remedy: `For example ${EXAMPLE}.` });
}

/** The error of a call, or of all calls, without an id. */
export function noId(value: unknown): Error {
  const remedy =
    'For example id: ({ providerOptions }) => providerOptions?.app?.user. Without one, all callers would share a budget.';
  return complaint('ERR_ID', { option: 'budget.id', demand: 'a text, or texts by the names of limits', value, remedy });
}

function noSlots(option: string, value: unknown): Error {
  const remedy = 'It counts calls in progress: write 1.';
  return complaint('ERR_OPTION', { option, demand: 'a number, because it is a concurrency limit', value, remedy });
}
