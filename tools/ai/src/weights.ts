import { checkOptions, complaint } from '@sluice/core/kit';

/** The tokens of one call, by what they cost. */
export interface Tokens {
  /** Tokens of the prompt that were neither read from a cache nor written into one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Tokens of the answer, without those of {@link Tokens.reasoning}. */
  readonly output: number;
  readonly reasoning: number;
}

/**
 * What a token costs, each a number of at least 0: dollars per million tokens, as on a provider's list of prices, are
 * micro-dollars a token. The cost of a call is rounded up.
 */
export interface Weights {
  /** A token of the prompt. */
  readonly input: number;
  /** A token of the prompt that the provider read from its cache. Default: `input`. */
  readonly cacheRead?: number | undefined;
  /** A token of the prompt that the provider wrote into its cache. Default: `input`. */
  readonly cacheWrite?: number | undefined;
  /** A token of the answer. For a model of embeddings, which has none, 0. */
  readonly output: number;
  /** A token of the answer that the model thought and did not say. Default: `output`. */
  readonly reasoning?: number | undefined;
}

/** Each token counts as one, whatever it is. */
export const EACH_TOKEN: Tokens = { input: 1, cacheRead: 1, cacheWrite: 1, output: 1, reasoning: 1 };

export const NO_TOKENS: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

const NAMES = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning'] as const;

/** Above this, the cost of a call would leave the numbers that limits count exactly. */
const MOST = 1_000_000;

/**
 * Gives the weight of each kind of tokens.
 *
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`.
 */
export function checkedWeights(option: string, given: Weights): Tokens {
  checkOptions(option, given, NAMES, {}, "'tokens', 1 or { input: 1.25, cacheRead: 0.125, output: 10 }");
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = given;
  const weights = { input, cacheRead, cacheWrite, output, reasoning };
  for (const name of NAMES) checkWeight(`${option}.${name}`, weights[name]);
  return weights;
}

function checkWeight(option: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= MOST) return;
  const remedy = 'Write the dollars per million tokens: they are the micro-dollars a token.';
  throw complaint('ERR_OPTION', { option, demand: `a number from 0 to ${MOST}`, value, remedy });
}

/** Smaller parts of a token are the error of binary fractions: 11 tokens at 0.1 are not more than 1.1. */
const EPSILON = 1e-6;

/** The cost of tokens, a whole number. */
export function costOf(tokens: Tokens, weights: Tokens): number {
  const exact =
    tokens.input * weights.input +
    tokens.cacheRead * weights.cacheRead +
    tokens.cacheWrite * weights.cacheWrite +
    tokens.output * weights.output +
    tokens.reasoning * weights.reasoning;
  return Math.ceil(Math.max(0, exact - EPSILON));
}
