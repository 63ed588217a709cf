import type { ServerResponse } from 'node:http';
import type Anthropic from '@anthropic-ai/sdk';
import { accountId, createLimiter } from '@sluice/core';
import type OpenAI from 'openai';
import { expect, test } from 'vitest';
import { around, BudgetExceededError, usageOf } from '../src/index.ts';
import {
  answering,
  chat,
  chatCost,
  chatUsage,
  id,
  inputMoney,
  messages,
  messageStart,
  readAll,
  responseUsage,
  startedSdks,
  streaming,
  textDelta,
} from './sdks.ts';

const sdks = startedSdks();
const UNKNOWN = { type: 'warning', message: expect.stringContaining('did not report what a call has used') as string };

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
type ChatStream = OpenAI.ChatCompletionCreateParamsStreaming;
const chatStream: ChatStream = { ...chat, stream: true, stream_options: { include_usage: true } };

const chatting = () =>
  around(
    sdks.options,
    (params: OpenAI.ChatCompletionCreateParamsNonStreaming, request?: { signal: AbortSignal }) =>
      sdks.openai.chat.completions.create(params, request),
    usageOf.openai,
  );
const streamingChat = () =>
  around(
    sdks.options,
    (params: ChatStream, request?: { signal: AbortSignal }) => sdks.openai.chat.completions.create(params, request),
    usageOf.openai,
  );

test('a chat of the SDK of OpenAI takes its estimate, and then what its usage says', async () => {
  let before: unknown;
  sdks.handler = (request, response) => {
    void sdks.taken().then((now) => {
      before = now;
      answering({ choices: [], usage: chatUsage })(request, response);
    });
  };
  const answer = await chatting()(chat);
  expect(answer.usage).toEqual(chatUsage);
  expect(before).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 1 });
  expect(await sdks.taken()).toEqual(chatCost);
});

test('a streamed chat is the stream of the SDK, settled by the usage of its last chunk', async () => {
  sdks.handler = streaming([...spoken, chunk({}, chatUsage), '[DONE]']);
  const stream = await streamingChat()(chatStream);
  expect(stream.controller).toBeInstanceOf(AbortController);
  expect(await readAll(stream)).toHaveLength(5);
  expect(await sdks.taken()).toEqual(chatCost);
});

test('both branches of a stream that is split are one call', async () => {
  sdks.handler = streaming([...spoken, chunk({}, chatUsage), '[DONE]']);
  const [left, right] = (await streamingChat()(chatStream)).tee();
  expect(await readAll(left)).toEqual(await readAll(right));
  expect(await sdks.taken()).toEqual(chatCost);
});

test('a streamed chat without a usage costs its prompt and what has passed', async () => {
  sdks.handler = streaming([...spoken, '[DONE]']);
  await readAll(await streamingChat()(chatStream));
  expect(await sdks.taken()).toEqual({ tokens: 10 + 4, money: 1_000_000 + 40, slots: 0 });
  expect(sdks.events).toEqual([]);
});

test('a streamed chat that is left by its reader, broken off or aborted keeps its estimate, with an event', async () => {
  const estimate = { tokens: 10 + 20, money: 1_000_000 + 200, slots: 0 };
  for (const end of ['breaks', 'leaves', 'aborts'] as const) {
    sdks.renew();
    sdks.handler = streaming(spoken, end === 'breaks' ? 'breaks' : 'hangs');
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
    expect(await sdks.taken()).toEqual(estimate);
    expect(sdks.events).toEqual([UNKNOWN]);
  }
});

test('a call that the provider refuses, or whose stream fails before it says anything, uses no tokens', async () => {
  sdks.handler = answering({ error: { message: 'overloaded' } }, 503);
  await expect(chatting()(chat)).rejects.toThrow('overloaded');
  await expect(streamingChat()(chatStream)).rejects.toThrow('overloaded');
  sdks.handler = streaming([chatParts[0]!, { error: { message: 'overloaded' } }]);
  await expect(readAll(await streamingChat()(chatStream))).rejects.toThrow('overloaded');
  expect(await sdks.taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});

test('calls that the provider refuses use up a limit of requests', async () => {
  sdks.handler = answering({ error: { message: 'invalid' } }, 400);
  const limiter = createLimiter({ limits: { Requests: { key: accountId(), count: 60, period: '1h' } }, log: false });
  const call = around(
    { limiter, limits: { Requests: 1 }, id },
    (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => sdks.openai.chat.completions.create(params),
    usageOf.openai,
  );
  for (let i = 0; i < 100; i++) await call(chat).catch(() => {});
  expect(sdks.asked).toBe(60);
});

test('a call that is aborted before its answer keeps its estimate: the model may have answered it', async () => {
  const controller = new AbortController();
  sdks.handler = () => controller.abort();
  await expect(chatting()(chat, { signal: controller.signal })).rejects.toThrow('aborted');
  expect(await sdks.taken()).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 0 });
  expect(sdks.events).toEqual([UNKNOWN]);
});

test('a call that a limit denies rejects before the provider is called', async () => {
  await sdks.limiter.charge([{ limit: 'Tokens', id, cost: 980 }]);
  const error: unknown = await chatting()(chat).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BudgetExceededError);
  expect(error).toMatchObject({ decision: { limit: 'Tokens' }, statusCode: 429 });
  expect(sdks.asked).toBe(0);
  expect(await sdks.taken()).toEqual({ tokens: 980, money: 0, slots: 0 });
});

test('of several bounds of an answer the larger one counts, for each of several answers', async () => {
  sdks.handler = answering({ choices: [] });
  await chatting()({ ...chat, max_completion_tokens: 30, n: 2 });
  expect((await sdks.taken()).tokens).toBe(10 + 2 * 30);
});

test('the id is of the call, and a call without an id or a bound is an error before the provider is called', async () => {
  const call = around(
    { ...sdks.options, id: (_params, { user }) => user },
    (params: OpenAI.ChatCompletionCreateParamsNonStreaming, _caller: { user?: string }) =>
      sdks.openai.chat.completions.create(params),
    usageOf.openai,
  );
  sdks.handler = answering({ choices: [], usage: chatUsage });
  await call(chat, { user: id });
  expect(await sdks.taken()).toEqual(chatCost);
  await expect(call(chat, {})).rejects.toThrow('`around.id` must be a text');
  await expect(call({ model: 'm', messages }, { user: id })).rejects.toThrow('write around({ maxOutput: 4000 })');
  expect(sdks.asked).toBe(1);
});

test('wrong arguments are errors that say what to write', () => {
  const create = (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => sdks.openai.chat.completions.create(params);
  const without = (each: object) => () => around({ ...sdks.options, ...each }, create, usageOf.openai);
  expect(without({ limits: {} })).toThrow('`around.limits` must be an object of costs by the names of limits');
  expect(without({ retry: true })).toThrow('has no option `retry`');
  expect(() => around(sdks.options, undefined as never, usageOf.openai)).toThrow('`around.call` must be a function');
  expect(() => around(sdks.options, create, undefined as never)).toThrow('Write usageOf.openai or usageOf.anthropic.');
});

test('responses of OpenAI count alike, whole, streamed, left and failed', async () => {
  const params = { model: 'm', input: 'x'.repeat(40), max_output_tokens: 20 };
  const whole = around(
    sdks.options,
    (given: OpenAI.Responses.ResponseCreateParamsNonStreaming) => sdks.openai.responses.create(given),
    usageOf.openai,
  );
  sdks.handler = answering({ object: 'response', output: [], usage: responseUsage });
  await whole(params);
  expect(await sdks.taken()).toEqual(chatCost);

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
    sdks.renew();
    const streamed = around(
      sdks.options,
      (given: OpenAI.Responses.ResponseCreateParamsStreaming) => sdks.openai.responses.create(given),
      usageOf.openai,
    );
    sdks.handler = streaming([...spokenEvents, ...last]);
    await readAll(await streamed({ ...params, stream: true }));
    expect(await sdks.taken()).toEqual(costs);
    sdks.handler = streaming([spokenEvents[0]!, { type: 'response.failed', response: { usage: null } }]);
    await readAll(await streamed({ ...params, stream: true }));
    expect(await sdks.taken()).toEqual(costs);
  }
});

test('embeddings cost their texts', async () => {
  const call = around(
    { ...sdks.options, maxOutput: 0 },
    (params: OpenAI.EmbeddingCreateParams) => sdks.openai.embeddings.create(params),
    usageOf.openai,
  );
  sdks.handler = answering({ data: [], usage: { prompt_tokens: 12, total_tokens: 12 } });
  await call({ model: 'm', input: ['x'.repeat(40)], encoding_format: 'float' });
  expect((await sdks.taken()).tokens).toBe(12);
});

const message = () =>
  around(
    sdks.options,
    (params: Anthropic.MessageCreateParamsNonStreaming) => sdks.anthropic.messages.create(params),
    usageOf.anthropic,
  );
const messageStream = () =>
  around(
    sdks.options,
    (params: Anthropic.MessageCreateParamsStreaming) => sdks.anthropic.messages.create(params),
    usageOf.anthropic,
  );

test('messages of Anthropic count what was read from the cache and written into it', async () => {
  sdks.handler = answering({ type: 'message', usage: { ...messageStart.message.usage, output_tokens: 7 } });
  await message()(chat);
  expect(await sdks.taken()).toEqual({ tokens: 16, money: inputMoney + 70, slots: 0 });
});

test('streamed messages have the input of their start and the output of their end, or of their estimate', async () => {
  const said = [messageStart, textDelta('eight..8'), textDelta('sixteen.')];
  const delta = { type: 'message_delta', delta: {}, usage: { output_tokens: 7, input_tokens: null } };
  sdks.handler = streaming([...said, delta, { type: 'message_stop' }]);
  await readAll(await messageStream()({ ...chat, stream: true }));
  expect(await sdks.taken()).toEqual({ tokens: 16, money: inputMoney + 70, slots: 0 });

  sdks.renew();
  sdks.handler = streaming(said, 'breaks');
  await expect(readAll(await messageStream()({ ...chat, stream: true }))).rejects.toThrow('terminated');
  expect(await sdks.taken()).toEqual({ tokens: 9 + 20, money: inputMoney + 200, slots: 0 });
});

test('a message that the provider refuses, at once or in its stream, uses no tokens', async () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'overloaded' } };
  sdks.handler = answering(error, 529);
  await expect(message()(chat)).rejects.toThrow('overloaded');
  sdks.handler = streaming([messageStart, error]);
  await expect(readAll(await messageStream()({ ...chat, stream: true }))).rejects.toThrow('overloaded');
  expect(await sdks.taken()).toEqual({ tokens: 0, money: 0, slots: 0 });
});

test('a stream of `around` whose provider is silent for two minutes loses its slots, with an event, and is settled at its end', async () => {
  let response: ServerResponse | undefined;
  sdks.handler = (request, given) => {
    response = given;
    streaming(chatParts, 'hangs')(request, given);
  };
  const parts = (await streamingChat()(chatStream))[Symbol.asyncIterator]();
  for (const _ of chatParts) await parts.next();
  const next = parts.next();
  sdks.time.advance(119_999);
  expect(sdks.events).toEqual([]);
  expect(await sdks.taken()).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 1 });
  sdks.time.advance(1);
  await expect.poll(sdks.taken).toEqual({ tokens: 10 + 20, money: 1_000_000 + 200, slots: 0 });
  expect(sdks.events).toMatchObject([
    { type: 'warning', message: expect.stringContaining('no part of a stream for 120') },
  ]);

  response!.end(`data: ${JSON.stringify(chunk({}, chatUsage))}\n\ndata: [DONE]\n\n`);
  expect((await next).done).toBe(false);
  expect((await parts.next()).done).toBe(true);
  await expect.poll(sdks.taken).toEqual(chatCost);
});

test('an answer whose usage can’t be read reaches its caller, with its slots back and a warning', async () => {
  const wrong = [{ choices: 5 }, { choices: [{ delta: { tool_calls: 5 } }] }];
  for (const body of wrong) {
    sdks.handler = answering(body);
    expect(await chatting()(chat)).toMatchObject(body);
  }
  sdks.handler = streaming([...wrong, '[DONE]']);
  await readAll(await streamingChat()(chatStream));
  const estimate = (10 + 20) * wrong.length;
  expect(await sdks.taken()).toMatchObject({ tokens: estimate + 10 + 20, slots: 0 });
  expect(sdks.events.length).toBeGreaterThan(2 * wrong.length);
  expect(sdks.events[0]).toMatchObject({ type: 'warning', message: expect.stringContaining('could not be read') });
});

test('a wrong call of around, or of what it returns, is an error that says what to write', async () => {
  const create = (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => sdks.openai.chat.completions.create(params);
  expect(() => around(sdks.options, undefined as never, usageOf.openai)).toThrow(
    '`around.call` must be a function, but was undefined',
  );
  expect(() => around(sdks.options, create, null as never)).toThrow(
    '`around.usageOf` must be a function, but was null',
  );
  for (const params of [undefined, 'hello']) {
    await expect(chatting()(params as never)).rejects.toThrow('`around.params` must be the parameters of a call');
  }
  expect(sdks.asked).toBe(0);
});
