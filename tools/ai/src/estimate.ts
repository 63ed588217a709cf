import { SluiceError } from '@sluice/core';
import { complaint, isPlainObject, wholeNumber } from '@sluice/core/kit';
import type { CallParams } from './call-params.ts';
import { ignoreRejection } from './ignore-rejection.ts';
import { promptSize, tokensIn } from './prompt-size.ts';
import { providerState } from './provider-state.ts';
import type { Tokens } from './weights.ts';

/** What a call is expected to use. */
export interface Estimate {
  /** Tokens of the prompt. */
  readonly input?: number | undefined;
  /** Tokens of the answer. */
  readonly output?: number | undefined;
}

/** The most tokens of one call that are counted. */
export const MOST_TOKENS = 1_000_000_000;

/** How calls are estimated: `Args` are those of the function of the user. */
export interface Estimating<Args extends readonly unknown[]> {
  /** The function whose options these are, in errors. */
  readonly of: string;
  readonly estimate: ((...args: Args) => Estimate | undefined) | undefined;
  readonly maxOutput: number | undefined;
}

/** What the parameters of a call say of its tokens. */
export interface Extent {
  /** What a model is shown: the prompt, with its tools. */
  readonly prompt: unknown;
  /** What the provider adds to it, by the name of the parameter. */
  readonly state: string | undefined;
  /** The bounds of an answer; those that are no numbers count as missing. */
  readonly bounds: readonly unknown[];
  /** How many answers there are, each of which may be as long. */
  readonly answers: number;
  /** Tokens of thinking that the bounds do not include. */
  readonly thinking: number;
  /** How the parameter is called that bounds the answer. */
  readonly boundName: string;
}

/**
 * Estimates the tokens of a call before it is made.
 *
 * @throws {SluiceError} `ERR_OPTION` when nothing bounds the answer, and for an estimate that is not whole numbers.
 */
export function estimatedTokens<Args extends readonly unknown[]>(
  { of, estimate, maxOutput }: Estimating<Args>,
  args: Args,
  extent: Extent,
): Tokens {
  const own = estimate === undefined ? undefined : checkedEstimate(of, ignoreRejection(estimate(...args)));
  const input = own?.input ?? inputOf(extent, of);
  const most = (): number => extent.answers * (mostOutput(extent, of, maxOutput) + extent.thinking);
  const output = own?.output ?? Math.min(most(), MOST_TOKENS);
  return { input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 };
}

function inputOf({ prompt, state }: Extent, of: string): number {
  if (state === undefined) return tokensIn(promptSize(prompt));
  throw new SluiceError(
    'ERR_OPTION',
    `continues what the provider keeps, whose tokens \`${of}\` can't know. Write ${of}({ estimate: (params) => ({ input: 20000 }) }) with the most that it may be, or send the whole prompt.`,
    { path: state },
  );
}

function checkedEstimate(of: string, given: unknown): Estimate {
  if (given === undefined) return {};
  if (!isPlainObject(given) || given instanceof Promise) throw noEstimate(of, given);
  for (const name of ['input', 'output']) {
    if (given[name] !== undefined) wholeNumber(`${of}.estimate().${name}`, given[name], { min: 0, max: MOST_TOKENS });
  }
  return given;
}

function noEstimate(of: string, value: unknown): Error {
  const remedy = 'For example estimate: (params) => ({ input: countTokens(params) }).';
  return complaint('ERR_OPTION', { option: `${of}.estimate()`, demand: 'an object of numbers', value, remedy });
}

/** The largest bound of the answer: a call may have several, and which of them a provider obeys depends on the model. */
function mostOutput({ bounds, boundName }: Extent, of: string, maxOutput: number | undefined): number {
  const most = Math.max(...bounds.map(numberOf).filter((bound) => bound !== undefined));
  if (Number.isSafeInteger(most) && most >= 0) return most;
  if (maxOutput !== undefined) return maxOutput;
  throw complaint('ERR_OPTION', {
    option: boundName,
    demand: `a whole number of tokens, because \`${of}\` has no \`maxOutput\``,
    value: bounds.find((bound) => bound !== undefined),
    remedy: `Pass it to the call, or write ${of}({ maxOutput: 4000 }) for calls without it.`,
  });
}

/** A number as servers read it: many take one in a text as well. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'string' && /^\s*\d{1,16}(\.0*)?\s*$/.test(value)) return Number(value);
  return typeof value === 'number' ? value : undefined;
}

/** The extent of a call of the AI SDK. A model of embeddings has no answer to bound. */
export function extentOf(params: CallParams): Extent {
  const { prompt, values, tools, responseFormat, maxOutputTokens, providerOptions = {} } = params;
  const own = Object.values(providerOptions).filter(isPlainObject);
  // Providers add the budget of thinking to the bound.
  const budgets = own.map(({ thinking, reasoningConfig }) => numberOf(budgetIn(thinking) ?? budgetIn(reasoningConfig)));
  return {
    prompt: {
      prompt,
      values,
      tools: tools?.length === 0 ? undefined : tools,
      responseFormat: responseFormat?.type === 'json' ? responseFormat : undefined,
    },
    state: own.map(providerState).find((state) => state !== undefined),
    bounds: values === undefined ? [maxOutputTokens, ...own.map((each) => each['maxCompletionTokens'])] : [0],
    answers: 1,
    thinking: Math.max(0, ...budgets.map((each) => each ?? 0)),
    boundName: 'maxOutputTokens',
  };
}

function budgetIn(thinking: unknown): unknown {
  return isPlainObject(thinking) ? thinking['budgetTokens'] : undefined;
}
