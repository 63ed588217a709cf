import { describe, expect, test } from 'vitest';
import { around, usageOf } from '../src/index.ts';
import {
  answering,
  chat,
  chatCost,
  chatUsage,
  inputMoney,
  messageStart,
  readAll,
  responseUsage,
  startedSdks,
  streaming,
  textDelta,
} from './sdks.ts';

const sdks = startedSdks();

/** The rest of what helpers of the SDKs demand of a stream. */
const chatChunk = (delta: object, more: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const chatChunks = [chatChunk({ role: 'assistant', content: 'eight..8' }), chatChunk({ content: 'sixteen.' })];
const chatEnd = [
  chatChunk({}, { finish_reason: 'stop' }),
  { ...chatChunk({}), choices: [], usage: chatUsage },
  '[DONE]',
] as const;

const messageParts = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      usage: messageStart.message.usage,
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  textDelta('eight..8'),
  textDelta('sixteen.'),
];
const messageEnd = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];

const response = {
  id: 'r',
  object: 'response',
  status: 'in_progress',
  output: [],
  usage: null as object | null,
  error: null,
};
const message16 = { type: 'output_text', text: 'eight..8sixteen.', annotations: [] };
const item = { id: 'i', type: 'message', role: 'assistant', status: 'in_progress', content: [] as object[] };
const at = { item_id: 'i', output_index: 0, content_index: 0 };
const responseParts = [
  { type: 'response.created', response },
  { type: 'response.output_item.added', output_index: 0, item },
  { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...at, delta: 'eight..8' },
  { type: 'response.output_text.delta', ...at, delta: 'sixteen.' },
].map((event, i) => ({ ...event, sequence_number: i }));
const wholeItem = { ...item, status: 'completed', content: [message16] };
const responseEnd = [
  { type: 'response.output_text.done', ...at, text: message16.text },
  { type: 'response.content_part.done', ...at, part: message16 },
  { type: 'response.output_item.done', output_index: 0, item: wholeItem },
  {
    type: 'response.completed',
    response: { ...response, status: 'completed', output: [wholeItem], usage: responseUsage },
  },
].map((event, i) => ({ ...event, sequence_number: responseParts.length + i }));

/** What the helpers of both SDKs have in common. */
interface Helper extends AsyncIterable<unknown> {
  abort(): void;
  done(): Promise<void>;
  on(event: 'end', listener: () => void): unknown;
}
type Request = { signal: AbortSignal } | undefined;

/** Each helper, with the parts of an answer of 16 characters, what it costs by its usage, and its estimate. */
const HELPERS = {
  'chat.completions.stream': {
    helped: () =>
      around(
        sdks.options,
        (given: typeof chat, request: Request): Helper => sdks.openai.chat.completions.stream(given, request),
        usageOf.openai,
      ),
    params: chat,
    parts: chatChunks,
    end: chatEnd,
    costs: chatCost,
    estimate: { tokens: 10 + 20, money: 1_000_000 + 200, slots: 0 },
  },
  'responses.stream': {
    helped: () =>
      around(
        sdks.options,
        (given: { model: string; input: string; max_output_tokens: number }, request: Request): Helper =>
          sdks.openai.responses.stream(given, request),
        usageOf.openai,
      ),
    params: { model: 'm', input: 'x'.repeat(40), max_output_tokens: 20 },
    parts: responseParts,
    end: responseEnd,
    costs: chatCost,
    estimate: { tokens: 10 + 20, money: 1_000_000 + 200, slots: 0 },
  },
  'messages.stream': {
    helped: () =>
      around(
        sdks.options,
        (given: typeof chat, request: Request): Helper => sdks.anthropic.messages.stream(given, request),
        usageOf.anthropic,
      ),
    params: chat,
    parts: messageParts,
    end: messageEnd,
    costs: { tokens: 16, money: inputMoney + 70, slots: 0 },
    estimate: { tokens: 9 + 20, money: inputMoney + 200, slots: 0 },
  },
} as const;

const helpers = Object.entries(HELPERS).map(([name, helper]) => ({ name, ...helper }));

describe.each(helpers)('the helper $name', ({ helped, params, parts, end, costs, estimate }) => {
  const open = (request?: Request): Promise<Helper> => helped()(params as never, request);

  test('is settled by its usage, whether its parts or only its end are awaited', async () => {
    sdks.handler = streaming([...parts, ...end]);
    await (await open()).done();
    expect(await sdks.taken()).toEqual(costs);

    sdks.renew();
    expect((await readAll(await open())).length).toBeGreaterThan(parts.length);
    expect(await sdks.taken()).toEqual(costs);
  });

  test('that breaks, or is aborted or left by its reader, keeps its estimate', async () => {
    for (const how of ['breaks', 'aborts', 'signals', 'leaves'] as const) {
      sdks.renew();
      sdks.handler = streaming(parts, how === 'breaks' ? 'breaks' : 'hangs');
      const controller = new AbortController();
      const helper = await open({ signal: controller.signal });
      const ended = new Promise<void>((resolve) => void helper.on('end', resolve));
      const done = helper.done().catch((reason: unknown) => reason);
      let count = 0;
      const read = async () => {
        for await (const _ of helper) {
          if ((count += 1) < parts.length) continue;
          if (how === 'aborts') helper.abort();
          if (how === 'signals') controller.abort();
          if (how === 'leaves') break;
        }
      };
      await read().catch(() => undefined);
      await ended;
      expect(await done).toBeInstanceOf(Error);
      expect(await sdks.taken()).toEqual(estimate);
    }
  });

  test('whose provider refuses uses no tokens, and its error is that of the SDK', async () => {
    sdks.handler = answering({ error: { message: 'overloaded' } }, 503);
    await expect((await open()).done()).rejects.toThrow('overloaded');
    expect(await sdks.taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
  });
});

test('a loop of tools of an SDK is an error before the provider is called, and takes nothing', async () => {
  const loops = [
    around(sdks.options, () => sdks.openai.chat.completions.runTools({ ...chat, tools: [] }), usageOf.openai),
    around(
      sdks.options,
      () => sdks.openai.chat.completions.runTools({ ...chat, tools: [], stream: true }),
      usageOf.openai,
    ),
    around(sdks.options, async () => sdks.openai.chat.completions.runTools({ ...chat, tools: [] }), usageOf.openai),
    around(sdks.options, () => sdks.anthropic.beta.messages.toolRunner({ ...chat, tools: [] }), usageOf.anthropic),
  ];
  for (const loop of loops) {
    await expect((loop as (params: object) => Promise<unknown>)(chat)).rejects.toThrow(
      '`around.call` must not return a loop of tools',
    );
  }
  expect(sdks.asked).toBe(0);
  expect(await sdks.taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});
