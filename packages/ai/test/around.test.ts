import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { around, BudgetExceededError, usageOf } from '../src/index.ts';

const key = accountId();
const id = '12345678';
/** 40 characters: 10 tokens. */
const messages = [{ role: 'user' as const, content: 'x'.repeat(40) }];
const weights = { input: 100_000, cacheRead: 10_000, cacheWrite: 1000, output: 10, reasoning: 1 };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** What the provider does with the next request. */
let handler: Handler;
let asked = 0;
const server = createServer((request, response) => {
  asked += 1;
  handler(request, response);
});
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  openai = new OpenAI({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function limiterOf() {
  return createLimiter({
    limits: {
      Tokens: { key, count: 1000, per: 'day' },
      InProgress: { key, concurrency: 2 },
      Month: { key, count: 1_000_000_000, per: 'month' },
    },
    log: false,
    time,
    onEvent: (event) => events.push(event),
  });
}
let time: FakeTime;
let events: LimiterEvent[];
let limiter: ReturnType<typeof limiterOf>;
let options: {
  limiter: typeof limiter;
  id: string;
  limits: { Tokens: 'tokens'; InProgress: number; Month: typeof weights };
};

beforeEach(() => {
  time = new FakeTime();
  events = [];
  limiter = limiterOf();
  options = { limiter, id, limits: { Tokens: 'tokens', InProgress: 1, Month: weights } };
  asked = 0;
});

async function taken() {
  const used = await limiter.usage([
    { limit: 'Tokens', id },
    { limit: 'Month', id },
  ]);
  const { remaining } = await limiter.check([{ limit: 'InProgress', id }]);
  return { tokens: used[0]!.used, money: used[1]!.used, slots: 2 - remaining };
}

function answering(body: object, status = 200): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** Streams events, and then ends, breaks off, or waits for the client to leave. */
function streaming(sent: readonly (object | string)[], end: 'ends' | 'breaks' | 'hangs' = 'ends'): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of sent) {
      const name = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : '';
      response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    }
    if (end === 'ends') response.end();
    else if (end === 'breaks') setImmediate(() => response.destroy());
  };
}

const chunk = (delta: object, usage: object | null = null) => ({
  choices: usage === null ? [{ index: 0, delta }] : [],
  usage,
});
/** 16 characters: 4 tokens. */
const chatParts = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'eight..8' }),
  chunk({ content: '...16' }),
];
const spoken = [...chatParts, chunk({ content: 'end' })];
const chatUsage = {
  prompt_tokens: 9,
  completion_tokens: 7,
  total_tokens: 16,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
/** 5 tokens of the prompt not cached, 4 cached, 5 said, 2 thought. */
const chatCost = { tokens: 16, money: 500_000 + 40_000 + 50 + 2, slots: 0 };

type ChatStream = OpenAI.ChatCompletionCreateParamsStreaming;
const chat = { model: 'm', messages, max_tokens: 20 };
const chatStream: ChatStream = { ...chat, stream: true, stream_options: { include_usage: true } };

const chatting = () =>
  around(
    options,
    (params: OpenAI.ChatCompletionCreateParamsNonStreaming, request?: { signal: AbortSignal }) =>
      openai.chat.completions.create(params, request),
    usageOf.openai,
  );
const streamingChat = () =>
  around(
    options,
    (params: ChatStream, request?: { signal: AbortSignal }) => openai.chat.completions.create(params, request),
    usageOf.openai,
  );

async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const part of stream) all.push(part);
  return all;
}

test('a chat of the SDK of OpenAI takes its estimate, and then what its usage says', async () => {
  let before: unknown;
  handler = (request, response) => {
    void taken().then((now) => {
      before = now;
      answering({ choices: [], usage: chatUsage })(request, response);
    });
  };
  const answer = await chatting()(chat);
  expect(answer.usage).toEqual(chatUsage);
  expect(before).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 1 });
  expect(await taken()).toEqual(chatCost);
});

test('a streamed chat is the stream of the SDK, settled by the usage of its last chunk', async () => {
  handler = streaming([...spoken, chunk({}, chatUsage), '[DONE]']);
  const stream = await streamingChat()(chatStream);
  expect(stream.controller).toBeInstanceOf(AbortController);
  expect(await readAll(stream)).toHaveLength(5);
  expect(await taken()).toEqual(chatCost);
});

test('both branches of a stream that is split are one call', async () => {
  handler = streaming([...spoken, chunk({}, chatUsage), '[DONE]']);
  const [left, right] = (await streamingChat()(chatStream)).tee();
  expect(await readAll(left)).toEqual(await readAll(right));
  expect(await taken()).toEqual(chatCost);
});

test('a streamed chat without a usage, left by its reader, broken off or aborted costs its prompt and what has passed', async () => {
  const costs = { tokens: 10 + 4, money: 1_000_000 + 40, slots: 0 };
  handler = streaming([...spoken, '[DONE]']);
  await readAll(await streamingChat()(chatStream));
  expect(await taken()).toEqual(costs);

  for (const end of ['breaks', 'leaves', 'aborts'] as const) {
    options = { ...options, limiter: (limiter = limiterOf()) };
    handler = streaming(spoken, end === 'breaks' ? 'breaks' : 'hangs');
    const controller = new AbortController();
    const stream = await streamingChat()(chatStream, { signal: controller.signal });
    const read = async () => {
      let parts = 0;
      for await (const _ of stream) {
        parts += 1;
        if (parts < spoken.length) continue;
        if (end === 'leaves') break;
        if (end === 'aborts') controller.abort();
      }
    };
    const error: unknown = await read().catch((reason: unknown) => reason);
    expect(error instanceof Error).toBe(end === 'breaks');
    expect(await taken()).toEqual(costs);
  }
});

test('a call that the provider refuses, or whose stream fails before it says anything, costs nothing', async () => {
  handler = answering({ error: { message: 'overloaded' } }, 503);
  await expect(chatting()(chat)).rejects.toThrow('overloaded');
  await expect(streamingChat()(chatStream)).rejects.toThrow('overloaded');
  handler = streaming([chatParts[0]!, { error: { message: 'overloaded' } }]);
  await expect(readAll(await streamingChat()(chatStream))).rejects.toThrow('overloaded');
  expect(await taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});

test('a call that is aborted before its answer costs its prompt', async () => {
  const controller = new AbortController();
  handler = () => controller.abort();
  await expect(chatting()(chat, { signal: controller.signal })).rejects.toThrow('aborted');
  expect(await taken()).toEqual({ tokens: 10, money: 1_000_000, slots: 0 });
});

test('a call that a limit denies rejects before the provider is called', async () => {
  await limiter.charge([{ limit: 'Tokens', id, cost: 980 }]);
  const error: unknown = await chatting()(chat).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BudgetExceededError);
  expect(error).toMatchObject({ decision: { limit: 'Tokens' }, statusCode: 429 });
  expect(asked).toBe(0);
  expect(await taken()).toEqual({ tokens: 980, money: 0, slots: 0 });
});

test('of several bounds of an answer the larger one counts, for each of several answers', async () => {
  handler = answering({ choices: [] });
  await chatting()({ ...chat, max_completion_tokens: 30, n: 2 });
  expect((await taken()).tokens).toBe(10 + 2 * 30);
});

test('the id is of the call, and a call without an id or a bound is an error before the provider is called', async () => {
  const call = around(
    { ...options, id: (_params, { user }) => user },
    (params: OpenAI.ChatCompletionCreateParamsNonStreaming, _caller: { user?: string }) =>
      openai.chat.completions.create(params),
    usageOf.openai,
  );
  handler = answering({ choices: [], usage: chatUsage });
  await call(chat, { user: id });
  expect(await taken()).toEqual(chatCost);
  await expect(call(chat, {})).rejects.toThrow('`around.id` must be a text');
  await expect(call({ model: 'm', messages }, { user: id })).rejects.toThrow('write around({ maxOutput: 4000 })');
  expect(asked).toBe(1);
});

test('wrong arguments are errors that say what to write', () => {
  const create = (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => openai.chat.completions.create(params);
  const without = (each: object) => () => around({ ...options, ...each }, create, usageOf.openai);
  expect(without({ limits: {} })).toThrow('`around.limits` must be an object of costs by the names of limits');
  expect(without({ retry: true })).toThrow('has no option `retry`');
  expect(() => around(options, undefined as never, usageOf.openai)).toThrow('`around.call` must be a function');
  expect(() => around(options, create, undefined as never)).toThrow('Write usageOf.openai or usageOf.anthropic.');
});

const responseUsage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 16,
};

test('responses of OpenAI count alike, whole, streamed, left and failed', async () => {
  const params = { model: 'm', input: 'x'.repeat(40), max_output_tokens: 20 };
  const whole = around(
    options,
    (given: OpenAI.Responses.ResponseCreateParamsNonStreaming) => openai.responses.create(given),
    usageOf.openai,
  );
  handler = answering({ object: 'response', output: [], usage: responseUsage });
  await whole(params);
  expect(await taken()).toEqual(chatCost);

  const spokenEvents = [
    { type: 'response.created', response: { usage: null } },
    { type: 'response.reasoning_summary_text.delta', delta: 'four' },
    { type: 'response.output_text.delta', delta: 'eight..8' },
  ];
  for (const [last, costs] of [
    [[{ type: 'response.completed', response: { usage: responseUsage } }], chatCost],
    [[], { tokens: 10 + 3, money: 1_000_000 + 21, slots: 0 }],
    [[{ type: 'response.failed', response: { usage: null } }], { tokens: 10 + 3, money: 1_000_000 + 21, slots: 0 }],
  ] as const) {
    options = { ...options, limiter: (limiter = limiterOf()) };
    const streamed = around(
      options,
      (given: OpenAI.Responses.ResponseCreateParamsStreaming) => openai.responses.create(given),
      usageOf.openai,
    );
    handler = streaming([...spokenEvents, ...last]);
    await readAll(await streamed({ ...params, stream: true }));
    expect(await taken()).toEqual(costs);
    handler = streaming([spokenEvents[0]!, { type: 'response.failed', response: { usage: null } }]);
    await readAll(await streamed({ ...params, stream: true }));
    expect(await taken()).toEqual(costs);
  }
});

test('embeddings cost their texts', async () => {
  const call = around(
    { ...options, maxOutput: 0 },
    (params: OpenAI.EmbeddingCreateParams) => openai.embeddings.create(params),
    usageOf.openai,
  );
  handler = answering({ data: [], usage: { prompt_tokens: 12, total_tokens: 12 } });
  await call({ model: 'm', input: ['x'.repeat(40)], encoding_format: 'float' });
  expect((await taken()).tokens).toBe(12);
});

const messageStart = {
  type: 'message_start',
  message: {
    usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 },
  },
};
const inputMoney = 300_000 + 40_000 + 2000;
const textDelta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

const message = () =>
  around(
    options,
    (params: Anthropic.MessageCreateParamsNonStreaming) => anthropic.messages.create(params),
    usageOf.anthropic,
  );
const messageStream = () =>
  around(
    options,
    (params: Anthropic.MessageCreateParamsStreaming) => anthropic.messages.create(params),
    usageOf.anthropic,
  );

test('messages of Anthropic count what was read from the cache and written into it', async () => {
  handler = answering({ type: 'message', usage: { ...messageStart.message.usage, output_tokens: 7 } });
  await message()(chat);
  expect(await taken()).toEqual({ tokens: 16, money: inputMoney + 70, slots: 0 });
});

test('streamed messages have the input of their start and the output of their end, or what has passed', async () => {
  const said = [messageStart, textDelta('eight..8'), textDelta('sixteen.')];
  const delta = { type: 'message_delta', delta: {}, usage: { output_tokens: 7, input_tokens: null } };
  handler = streaming([...said, delta, { type: 'message_stop' }]);
  await readAll(await messageStream()({ ...chat, stream: true }));
  expect(await taken()).toEqual({ tokens: 16, money: inputMoney + 70, slots: 0 });

  options = { ...options, limiter: (limiter = limiterOf()) };
  handler = streaming(said, 'breaks');
  await expect(readAll(await messageStream()({ ...chat, stream: true }))).rejects.toThrow('terminated');
  expect(await taken()).toEqual({ tokens: 9 + 4, money: inputMoney + 40, slots: 0 });
});

test('a message that the provider refuses, at once or in its stream, costs nothing', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } };
  handler = answering(error, 529);
  await expect(message()(chat)).rejects.toThrow('overloaded');
  handler = streaming([messageStart, error]);
  await expect(readAll(await messageStream()({ ...chat, stream: true }))).rejects.toThrow('overloaded');
  expect(await taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});

test('a stream of `around` without a part for two minutes is settled by what has passed, with an event; later parts are charged', async () => {
  let response: ServerResponse | undefined;
  handler = (request, given) => {
    response = given;
    streaming(chatParts, 'hangs')(request, given);
  };
  const parts = (await streamingChat()(chatStream))[Symbol.asyncIterator]();
  for (const _ of chatParts) await parts.next();
  time.advance(119_999);
  expect(events).toEqual([]);
  expect(await taken()).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 1 });
  time.advance(1);
  await expect.poll(taken).toEqual({ tokens: 10 + 4, money: 1_000_000 + 40, slots: 0 });
  expect(events).toMatchObject([{ type: 'warning', message: expect.stringContaining('had no part for 120 s') }]);

  response!.end(`data: ${JSON.stringify(chunk({}, chatUsage))}\n\ndata: [DONE]\n\n`);
  expect((await parts.next()).done).toBe(false);
  expect((await parts.next()).done).toBe(true);
  await expect.poll(taken).toEqual(chatCost);
});

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

/** Each helper, with the parts of an answer of 16 characters, and what it costs by its usage and by what has passed. */
const HELPERS = {
  'chat.completions.stream': {
    helped: () =>
      around(
        options,
        (given: typeof chat, request: Request): Helper => openai.chat.completions.stream(given, request),
        usageOf.openai,
      ),
    params: chat,
    parts: chatChunks,
    end: chatEnd,
    costs: chatCost,
    passed: { tokens: 10 + 4, money: 1_000_000 + 40, slots: 0 },
  },
  'responses.stream': {
    helped: () =>
      around(
        options,
        (given: { model: string; input: string; max_output_tokens: number }, request: Request): Helper =>
          openai.responses.stream(given, request),
        usageOf.openai,
      ),
    params: { model: 'm', input: 'x'.repeat(40), max_output_tokens: 20 },
    parts: responseParts,
    end: responseEnd,
    costs: chatCost,
    passed: { tokens: 10 + 4, money: 1_000_000 + 40, slots: 0 },
  },
  'messages.stream': {
    helped: () =>
      around(
        options,
        (given: typeof chat, request: Request): Helper => anthropic.messages.stream(given, request),
        usageOf.anthropic,
      ),
    params: chat,
    parts: messageParts,
    end: messageEnd,
    costs: { tokens: 16, money: inputMoney + 70, slots: 0 },
    passed: { tokens: 9 + 4, money: inputMoney + 40, slots: 0 },
  },
} as const;

const helpers = Object.entries(HELPERS).map(([name, helper]) => ({ name, ...helper }));

describe.each(helpers)('the helper $name', ({ helped, params, parts, end, costs, passed }) => {
  const open = (request?: Request): Promise<Helper> => helped()(params as never, request);

  test('is settled by its usage, whether its parts or only its end are awaited', async () => {
    handler = streaming([...parts, ...end]);
    await (await open()).done();
    expect(await taken()).toEqual(costs);

    options = { ...options, limiter: (limiter = limiterOf()) };
    expect((await readAll(await open())).length).toBeGreaterThan(parts.length);
    expect(await taken()).toEqual(costs);
  });

  test('that breaks, or is aborted or left by its reader, costs its prompt and what has passed', async () => {
    for (const how of ['breaks', 'aborts', 'signals', 'leaves'] as const) {
      options = { ...options, limiter: (limiter = limiterOf()) };
      handler = streaming(parts, how === 'breaks' ? 'breaks' : 'hangs');
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
      expect(await taken()).toEqual(passed);
    }
  });

  test('whose provider refuses costs nothing, and its error is that of the SDK', async () => {
    handler = answering({ error: { message: 'overloaded' } }, 503);
    await expect((await open()).done()).rejects.toThrow('overloaded');
    expect(await taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
  });
});

test('a loop of tools of an SDK is an error before the provider is called, and takes nothing', async () => {
  const loops = [
    around(options, () => openai.chat.completions.runTools({ ...chat, tools: [] }), usageOf.openai),
    around(options, () => openai.chat.completions.runTools({ ...chat, tools: [], stream: true }), usageOf.openai),
    around(options, () => anthropic.beta.messages.toolRunner({ ...chat, tools: [] }), usageOf.anthropic),
  ];
  for (const loop of loops) {
    await expect((loop as (params: object) => Promise<unknown>)(chat)).rejects.toThrow(
      '`around.call` must not return a loop of tools',
    );
  }
  expect(asked).toBe(0);
  expect(await taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});
