import { complaint, isPlainObject, wholeNumber } from '@sluice/core/kit';
import type { CallParams, Message } from './call-params.ts';
import { ignoreRejection } from './ignore-rejection.ts';
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
export const CHARACTERS_OF_FILE = 4000;

/** How calls are estimated: `Args` are those of the function of the user. */
export interface Estimating<Args extends readonly unknown[]> {
  /** The function whose options these are, in errors. */
  readonly of: string;
  readonly estimate: ((...args: Args) => Estimate | undefined) | undefined;
  readonly maxOutput: number | undefined;
}

/** What the parameters of a call say of its tokens. */
export interface Extent {
  /** The characters of the prompt, with its tools. */
  characters(): number;
  /** The bounds of the answer; those that are no numbers count as missing. */
  readonly bounds: readonly unknown[];
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
  const input = own?.input ?? tokensIn(extent.characters());
  const output = own?.output ?? mostOutput(extent, of, maxOutput);
  return { input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 };
}

/** Tokens of so many characters, rounded up. */
export function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_OF_TOKEN);
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
  const most = Math.max(...bounds.filter((bound) => typeof bound === 'number'));
  if (Number.isSafeInteger(most) && most >= 0) return most;
  if (maxOutput !== undefined) return maxOutput;
  throw complaint('ERR_OPTION', {
    option: boundName,
    demand: `a whole number of tokens, because \`${of}\` has no \`maxOutput\``,
    value: bounds.find((bound) => bound !== undefined),
    remedy: `Pass it to the call, or write ${of}({ maxOutput: 4000 }) for calls without it.`,
  });
}

/** The extent of a call of the AI SDK. A model of embeddings has no answer to bound. */
export function extentOf(params: CallParams): Extent {
  const { maxOutputTokens, providerOptions, values } = params;
  const own = Object.values(providerOptions ?? {}).map((each) => each?.['maxCompletionTokens']);
  return {
    characters: () => charactersOf(params),
    bounds: values === undefined ? [maxOutputTokens, ...own] : [0],
    boundName: 'maxOutputTokens',
  };
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
