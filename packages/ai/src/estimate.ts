import { complaint, isPlainObject, wholeNumber } from '@sluice/core/kit';
import type { CallParams, Message } from './call-params.ts';
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

/** English has about four characters to a token. */
const CHARACTERS_OF_TOKEN = 4;

/** An image or a page takes about a thousand tokens; what a file has is known to the provider only. */
const CHARACTERS_OF_FILE = 4000;

/** How calls are estimated. */
export interface Estimating {
  readonly estimate: ((params: CallParams) => Estimate | undefined) | undefined;
  readonly maxOutput: number | undefined;
}

/**
 * Estimates the tokens of a call before it is made.
 *
 * @throws {SluiceError} `ERR_OPTION` when nothing bounds the answer, and for an estimate that is not whole numbers.
 */
export function estimatedTokens(params: CallParams, { estimate, maxOutput }: Estimating): Tokens {
  const own = estimate === undefined ? undefined : checkedEstimate(estimate(params));
  const input = own?.input ?? tokensIn(charactersOf(params));
  const output = own?.output ?? (params.values === undefined ? mostOutput(params, maxOutput) : 0);
  return { input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 };
}

/** Tokens of so many characters, rounded up. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_OF_TOKEN);
}

function checkedEstimate(given: unknown): Estimate {
  if (given === undefined) return {};
  if (!isPlainObject(given)) throw noEstimate(given);
  for (const name of ['input', 'output']) {
    if (given[name] !== undefined) wholeNumber(`budget.estimate().${name}`, given[name], { min: 0, max: MOST_TOKENS });
  }
  return given;
}

function noEstimate(value: unknown): Error {
  const remedy = 'For example estimate: ({ prompt }) => ({ input: countTokens(prompt) }).';
  return complaint('ERR_OPTION', { option: 'budget.estimate()', demand: 'an object of numbers', value, remedy });
}

/** The larger bound of the answer: a provider may have one of its own, and which of the two it obeys depends on the model. */
function mostOutput({ maxOutputTokens, providerOptions }: CallParams, maxOutput: number | undefined): number {
  const bounds = [maxOutputTokens, ...Object.values(providerOptions ?? {}).map((own) => own?.['maxCompletionTokens'])];
  const most = Math.max(...bounds.filter((bound) => typeof bound === 'number'));
  if (Number.isSafeInteger(most) && most >= 0) return most;
  if (maxOutput !== undefined) return maxOutput;
  throw complaint('ERR_OPTION', {
    option: 'maxOutputTokens',
    demand: 'a whole number of tokens, because the budget has no `maxOutput`',
    value: maxOutputTokens,
    remedy: 'Pass it to the call, or write budget({ maxOutput: 4000 }) for calls without it.',
  });
}

function charactersOf({ prompt = [], values = [], tools, responseFormat }: CallParams): number {
  let characters = 0;
  for (const message of prompt) characters += charactersOfMessage(message);
  for (const value of values) characters += value.length;
  if (tools !== undefined && tools.length > 0) characters += charactersOfJson(tools);
  if (responseFormat?.type === 'json') characters += charactersOfJson(responseFormat);
  return characters;
}

function charactersOfMessage({ content }: Message): number {
  if (typeof content === 'string') return content.length;
  let characters = 0;
  for (const { type, text, input, output } of content) {
    if (typeof text === 'string') characters += text.length;
    else if (type === 'file' || type === 'reasoning-file') characters += CHARACTERS_OF_FILE;
    else characters += charactersOfJson(input) + charactersOfJson(output);
  }
  return characters;
}

/** The length of a value as the provider is sent it; 0 for what JSON has no text for. */
function charactersOfJson(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value, withoutBytes)?.length ?? 0);
}

/** Leaves out the bytes of a file in the result of a tool, which are no text to the model. */
function withoutBytes(name: string, value: unknown): unknown {
  if (name !== 'data') return value;
  const length = typeof value === 'string' ? value.length : ArrayBuffer.isView(value) ? Infinity : 0;
  return length > CHARACTERS_OF_FILE ? A_FILE : value;
}

const A_FILE = ' '.repeat(CHARACTERS_OF_FILE);
