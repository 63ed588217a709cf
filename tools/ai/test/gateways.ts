/** What a model does in one call, as its provider counts it. */
export interface Bill {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

type Event = { readonly type?: string; readonly [name: string]: unknown };

/**
 * How a provider, or a gateway before one, sends an answer of `words`, each of which is two tokens: events that have no usage
 * yet, then those of the end. The forms are those of the gateways' own documentation.
 */
export interface Gateway {
  readonly sdk: 'chat' | 'responses' | 'messages';
  /** Whether its usage comes at all. */
  readonly hasUsage: boolean;
  /** Whether its end says that the call has failed. */
  readonly fails?: boolean;
  events(bill: Bill, words: readonly string[]): { readonly said: readonly Event[]; readonly end: readonly Event[] };
}

function chunk(content: string | undefined, more: object = {}): Event {
  const delta = content === undefined ? {} : { role: 'assistant', content };
  const choice = { index: 0, delta, finish_reason: content === undefined ? 'stop' : null };
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...more };
}

function chatUsage({ input, cacheRead, cacheWrite, output }: Bill): object {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

const zeroChatUsage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
const last = (usage: object | null): Event => ({ ...chunk(undefined), choices: [], usage });

/** Chats: the words with what else their chunks have, and the last chunks. */
function chatOf(
  each: (bill: Bill, words: number) => object,
  end: (bill: Bill) => readonly Event[],
  hasUsage = true,
): Gateway {
  return {
    sdk: 'chat',
    hasUsage,
    events: (bill, words) => ({ said: words.map((word, i) => chunk(word, each(bill, i + 1))), end: end(bill) }),
  };
}

function messagesOf(
  start: (bill: Bill) => object,
  end: (bill: Bill) => object,
  stop: object = {},
  hasUsage = true,
): Gateway {
  return {
    sdk: 'messages',
    hasUsage,
    events: (bill, words) => ({
      said: [
        {
          type: 'message_start',
          message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage: start(bill) },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        ...words.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      ],
      end: [
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: end(bill) },
        { type: 'message_stop', ...stop },
      ],
    }),
  };
}

const inputOf = ({ input, cacheRead, cacheWrite }: Bill): object => ({
  input_tokens: input,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
});
const noInput = { input_tokens: 0, output_tokens: 0 };

function responsesOf(status: 'completed' | 'failed' | 'incomplete', hasUsage = true): Gateway {
  return {
    sdk: 'responses',
    hasUsage,
    fails: status === 'failed',
    events({ input, cacheRead, cacheWrite, output }, words) {
      const prompt = input + cacheRead + cacheWrite;
      const usage = {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: prompt + output,
      };
      const at = { item_id: 'i', output_index: 0, content_index: 0 };
      const response = {
        id: 'r',
        object: 'response',
        status: 'in_progress',
        output: [] as object[],
        usage: null,
        error: null,
      };
      const item = { id: 'i', type: 'message', role: 'assistant', status: 'in_progress', content: [] as object[] };
      const content = [{ type: 'output_text', text: words.join(''), annotations: [] }];
      const part = { type: 'output_text', text: '', annotations: [] };
      const whole = { ...item, status: 'completed', content };
      const said = [
        { type: 'response.created', response },
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.content_part.added', ...at, part },
        ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
      ];
      const ended = { ...response, status, output: [whole], usage: hasUsage ? usage : null };
      return { said, end: [{ type: `response.${status}`, response: ended }] };
    },
  };
}

export const GATEWAYS: Readonly<Record<string, Gateway>> = {
  'chat of OpenAI': chatOf(
    () => ({ usage: null }),
    (bill) => [chunk(undefined, { usage: null }), last(chatUsage(bill))],
  ),
  'chat of OpenAI without include_usage': chatOf(
    () => ({}),
    () => [chunk(undefined)],
    false,
  ),
  'chat of LiteLLM': chatOf(
    () => ({}),
    (bill) => [
      chunk(undefined),
      {
        ...chunk(undefined),
        choices: [{ index: 0, delta: {} }],
        usage: {
          ...chatUsage(bill),
          prompt_tokens_details: { cached_tokens: bill.cacheRead, cache_creation_tokens: bill.cacheWrite },
          cache_creation_input_tokens: bill.cacheWrite,
          cache_read_input_tokens: bill.cacheRead,
        },
      },
    ],
  ),
  'chat of vLLM with continuous_usage_stats': chatOf(
    (bill, words) => ({ usage: chatUsage({ ...bill, output: 2 * words }) }),
    (bill) => [chunk(undefined, { usage: chatUsage(bill) }), last(chatUsage(bill))],
  ),
  'chat of Higress': chatOf(
    () => ({ usage: zeroChatUsage }),
    (bill) => [chunk(undefined, { usage: chatUsage(bill) })],
  ),
  'chat of OpenRouter': chatOf(
    () => ({ provider: 'p' }),
    (bill) => [
      chunk(undefined),
      { ...chunk(''), usage: { ...chatUsage(bill), cost: 0.95, cost_details: { upstream_inference_cost: 19 } } },
    ],
  ),
  'chat with an empty usage in each chunk': chatOf(
    () => ({ usage: {} }),
    () => [chunk(undefined, { usage: {} })],
    false,
  ),
  'chat with a usage of zeros at its end': chatOf(
    () => ({}),
    () => [chunk(undefined), last(zeroChatUsage)],
    false,
  ),
  'responses of OpenAI': responsesOf('completed'),
  'responses that are incomplete': responsesOf('incomplete'),
  'responses that fail': responsesOf('failed'),
  'responses that fail without a usage': responsesOf('failed', false),
  'messages of Anthropic': messagesOf(
    (bill) => ({ ...inputOf(bill), output_tokens: 1 }),
    ({ output }) => ({ output_tokens: output }),
  ),
  'messages whose prompt grows by tools of the provider': messagesOf(
    (bill) => ({ ...inputOf({ ...bill, input: Math.ceil(bill.input / 2) }), output_tokens: 1 }),
    (bill) => ({ ...inputOf(bill), output_tokens: bill.output, server_tool_use: { web_search_requests: 1 } }),
  ),
  'messages of LiteLLM': messagesOf(
    (bill) => ({ ...inputOf(bill), output_tokens: 1 }),
    ({ input, output }) => ({
      input_tokens: input,
      output_tokens: output,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
    }),
  ),
  'messages of Bedrock': messagesOf(
    (bill) => ({ ...inputOf(bill), output_tokens: 3 }),
    ({ output }) => ({ output_tokens: output }),
    { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 1, outputTokenCount: 1, invocationLatency: 1 } },
  ),
  'messages whose usage comes at the end alone': messagesOf(
    () => noInput,
    (bill) => ({ ...inputOf(bill), output_tokens: bill.output }),
  ),
  'messages without a usage': messagesOf(
    () => noInput,
    () => noInput,
    {},
    false,
  ),
};
