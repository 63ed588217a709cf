import { numberOf, type Extent } from './estimate.ts';
import { providerState } from './provider-state.ts';

/** The parameters of the SDKs of OpenAI and Anthropic that say how large a call may be. */
type PlainParams = Readonly<Record<string, unknown>>;

/** The extent of a call of an SDK of a provider, whatever its interface. */
export function plainExtentOf(given: object): Extent {
  const params = given as PlainParams;
  return {
    prompt: params,
    state: providerState(params),
    bounds: [params['max_tokens'], params['max_completion_tokens'], params['max_output_tokens']],
    answers: promptsIn(params['prompt']) * Math.max(1, ...['n', 'best_of'].map((name) => countOf(params[name]))),
    thinking: 0,
    boundName: boundNameOf(params),
  };
}

/** Returns how many answers are asked for: servers refuse what is below 1. */
function countOf(value: unknown): number {
  const count = Math.ceil(numberOf(value) ?? 1);
  return Number.isSafeInteger(count) ? count : 1;
}

/** How many prompts a completion has: texts, or lists of tokens. Each is answered. */
function promptsIn(prompt: unknown): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1;
}

function boundNameOf(params: PlainParams): string {
  if ('max_completion_tokens' in params) return 'max_completion_tokens';
  return 'max_output_tokens' in params || 'input' in params ? 'max_output_tokens' : 'max_tokens';
}
