import { CHARACTERS_OF_FILE, type Extent } from './estimate.ts';

/** Where parameters have the prompt, in one or another interface of the SDKs. */
const PROMPT = ['messages', 'system', 'input', 'instructions', 'prompt'] as const;

/** What a prompt has beside texts: names, and what says what the texts are. */
const NO_TEXT: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'tool_call_id',
  'tool_use_id',
  'detail',
]);

/** Properties whose text is the bytes of a file. */
const BYTES: ReadonlySet<string> = new Set(['data', 'file_data', 'image_url', 'url', 'file_id']);

/** The parameters of the SDKs of OpenAI and Anthropic that say how large a call may be. */
type PlainParams = Readonly<Record<string, unknown>>;

/** The extent of a call of an SDK of a provider, whatever its interface. */
export function plainExtentOf(given: object): Extent {
  const params = given as PlainParams;
  const answers = typeof params['n'] === 'number' ? params['n'] : 1;
  const bounds = [params['max_tokens'], params['max_completion_tokens'], params['max_output_tokens']];
  return {
    characters: () => charactersOf(params),
    // Each of several answers may be as long.
    bounds: bounds.map((bound) => (typeof bound === 'number' ? bound * answers : undefined)),
    boundName: boundNameOf(params),
  };
}

function boundNameOf(params: PlainParams): string {
  if ('max_completion_tokens' in params) return 'max_completion_tokens';
  return 'max_output_tokens' in params || 'input' in params ? 'max_output_tokens' : 'max_tokens';
}

function charactersOf(params: PlainParams): number {
  let characters = 0;
  for (const name of PROMPT) characters += charactersIn(params[name]);
  for (const name of ['tools', 'response_format', 'text']) {
    if (params[name] !== undefined) characters += JSON.stringify(params[name]).length;
  }
  return characters;
}

/** The characters of all texts in a value, but those of files. */
function charactersIn(value: unknown, name = ''): number {
  if (typeof value === 'string') return BYTES.has(name) ? CHARACTERS_OF_FILE : value.length;
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? 1 : 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + charactersIn(each, name), 0);
  let characters = 0;
  for (const [own, each] of Object.entries(value)) if (!NO_TEXT.has(own)) characters += charactersIn(each, own);
  return characters;
}
