import { accountId, createLimiter, everyone, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import {
  embed,
  generateText,
  jsonSchema,
  stepCountIs,
  streamText,
  tool,
  wrapEmbeddingModel,
  wrapLanguageModel,
} from 'ai';
import { MockEmbeddingModelV3 } from 'ai/test';
import { beforeEach, expect, test } from 'vitest';
import { budget, BudgetExceededError, type BudgetOptions } from '../src/index.ts';
import { finishPart, ScriptedModel, textParts, usageOf, type Script } from './scripted-model.ts';

const key = accountId();
const id = '12345678';
/** 40 characters: 10 tokens. */
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(40) }] }];
/** 16 characters of answer: 4 tokens. */
const answered = textParts('eight..8', '...16');
const finished: Script = { parts: [...textParts('eight..8', 'sixteen.'), finishPart(usageOf(11, 7))], end: 'closes' };

let time: FakeTime;
let events: LimiterEvent[];
let limiter: ReturnType<typeof limiterOf>;

function limiterOf() {
  return createLimiter({
    limits: {
      Requests: quota({ key, count: 10, per: 'day' }),
      Tokens: quota({ key, count: 1000, per: 'day' }),
      InProgress: concurrency({ key, concurrency: 2 }),
      Month: quota({ key: everyone(), count: 100_000, per: 'month' }),
    },
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
}

beforeEach(() => {
  time = new FakeTime();
  events = [];
  limiter = limiterOf();
});

type Options = Partial<BudgetOptions<'Requests' | 'Tokens' | 'InProgress' | 'Month'>>;

function wrapped(model: ScriptedModel, options: Options = {}) {
  const limits = { Requests: 1, Tokens: 'tokens', InProgress: 1, Month: { input: 2, output: 10 } } as const;
  return wrapLanguageModel({ model, middleware: budget({ limiter, limits, id, maxOutput: 50, ...options }) });
}

/** What the limits have taken for all calls until now, and the slots in use. */
async function taken() {
  const used = await limiter.usage([
    { limit: 'Requests', id },
    { limit: 'Tokens', id },
    { limit: 'Month', id: 'everyone' },
  ]);
  const { remaining } = await limiter.check([{ limit: 'InProgress', id }]);
  const [requests, tokens, money] = used.map((each) => each.used);
  return { requests, tokens, money, slots: 2 - remaining };
}

async function readAll(stream: ReadableStream<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const part of stream) all.push(part);
  return all;
}

test('a call takes its estimate and a slot, and then what it has used', async () => {
  const model = wrapped(new ScriptedModel([{ parts: finished.parts, end: 'closes' }]));
  const { stream } = await model.doStream({ prompt, maxOutputTokens: 20 });
  expect(await taken()).toEqual({ requests: 1, tokens: 10 + 20, money: 2 * 10 + 10 * 20, slots: 1 });
  await readAll(stream);
  expect(await taken()).toEqual({ requests: 1, tokens: 11 + 7, money: 2 * 11 + 10 * 7, slots: 0 });
});

test('a call that is not streamed is settled before its answer is returned', async () => {
  const { text } = await generateText({ model: wrapped(new ScriptedModel([finished])), prompt: 'hello' });
  expect(text).toBe('eight..8sixteen.');
  expect(await taken()).toEqual({ requests: 1, tokens: 18, money: 92, slots: 0 });
});

test('a call that a limit denies rejects with the decision, takes nothing and does not reach the model', async () => {
  const model = new ScriptedModel([finished]);
  await limiter.charge([{ limit: 'Tokens', id, cost: 500 }]);
  const call = generateText({ model: wrapped(model), prompt: 'x', maxOutputTokens: 500 });
  const error: unknown = await call.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(BudgetExceededError);
  expect(error).toMatchObject({ decision: { limit: 'Tokens' }, isRetryable: false });
  expect(model.delivered).toEqual([]);
  expect(await taken()).toEqual({ requests: 0, tokens: 500, money: 0, slots: 0 });
});

test('of calls at once only those pass whose estimates fit, and what they use beyond is owed up to maxDebt', async () => {
  const rate = { key, burst: 100, count: 100, period: '1h', maxDebt: 50 } as const;
  const tokens = createLimiter({ limits: { Tokens: rate }, time });
  const scripted = new ScriptedModel([{ parts: [...textParts('much'), finishPart(usageOf(33, 100))], end: 'closes' }]);
  const middleware = budget({ limiter: tokens, limits: { Tokens: 'tokens' }, id, maxOutput: 15 });
  const model = wrapLanguageModel({ model: scripted, middleware });
  const ended = await Promise.allSettled(Array.from({ length: 5 }, () => model.doGenerate({ prompt })));
  expect(ended.map(({ status }) => status)).toEqual([...Array<string>(4).fill('fulfilled'), 'rejected']);
  const [left] = (await tokens.check([{ limit: 'Tokens', id }])).results;
  expect(left).toMatchObject({ remaining: 0, resetAfterMs: 1.5 * 3_600_000 });
});

test('a call that the provider refuses before the first part costs its fixed costs, and no tokens', async () => {
  const model = wrapped(new ScriptedModel([{ ...finished, refused: 400 }]));
  await expect(model.doGenerate({ prompt })).rejects.toThrow('refused with 400');
  await expect(model.doStream({ prompt })).rejects.toThrow('refused with 400');
  expect(await taken()).toEqual({ requests: 2, tokens: 0, money: 0, slots: 0 });
});

test('a stream whose first part is an error, or that breaks before its first part, costs its fixed costs, and no tokens', async () => {
  const error = { type: 'error', error: new Error('overloaded') } as const;
  const scripts: Script[] = [
    { parts: [{ type: 'stream-start', warnings: [] }, error], end: 'closes' },
    { parts: [error, finishPart(usageOf(undefined, undefined), 'error')], end: 'closes' },
    { parts: [{ type: 'stream-start', warnings: [] }], end: 'breaks' },
  ];
  const model = wrapped(new ScriptedModel(scripts));
  for (let i = 0; i < scripts.length; i++) {
    const { stream } = await model.doStream({ prompt });
    await readAll(stream).catch(() => {});
  }
  expect(await taken()).toEqual({ requests: scripts.length, tokens: 0, money: 0, slots: 0 });
});

test('a stream that breaks after its first part keeps its estimate; one that closes or fails costs what has passed', async () => {
  const error = { type: 'error', error: new Error('overloaded') } as const;
  for (const [script, output] of [
    [{ parts: answered, end: 'breaks' }, 50],
    [{ parts: answered, end: 'closes' }, 4],
    [{ parts: [...answered, finishPart(usageOf(undefined, undefined))], end: 'closes' }, 4],
    [{ parts: [...answered, error, finishPart(usageOf(undefined, undefined), 'error')], end: 'closes' }, 4],
  ] satisfies [Script, number][]) {
    limiter = limiterOf();
    const { stream } = await wrapped(new ScriptedModel([script])).doStream({ prompt });
    await readAll(stream).catch(() => {});
    expect(await taken()).toEqual({ requests: 1, tokens: 10 + output, money: 2 * 10 + 10 * output, slots: 0 });
  }
});

test('a reader that cancels keeps its estimate, and the provider is told the reason', async () => {
  const model = new ScriptedModel([{ parts: answered, end: 'hangs' }]);
  const { stream } = await wrapped(model).doStream({ prompt });
  const reader = stream.getReader();
  for (let i = 0; i < 2; i++) await reader.read();
  await reader.cancel('enough');
  expect(model.delivered[0]!.end).toBe('cancelled');
  expect(await taken()).toMatchObject({ requests: 1, tokens: 10 + 50, slots: 0 });
  expect(events).toHaveLength(1);
});

test('a call that is aborted before its first part keeps its estimate', async () => {
  const controller = new AbortController();
  const model = wrapped(new ScriptedModel([{ parts: [], end: 'hangs', obeysAbort: true }]));
  const generated = model.doGenerate({ prompt, abortSignal: controller.signal });
  const { stream } = await model.doStream({ prompt, abortSignal: controller.signal });
  const streamed = readAll(stream);
  controller.abort(new Error('gone'));
  await expect(generated).rejects.toThrow('gone');
  await expect(streamed).rejects.toThrow('gone');
  expect(await taken()).toMatchObject({ requests: 2, tokens: 2 * 60, slots: 0 });
});

test('a stream that is not read for two minutes is cancelled, keeps its estimate, and is an error for a late reader', async () => {
  const model = new ScriptedModel([finished]);
  const { stream } = await wrapped(model).doStream({ prompt });
  const reader = stream.getReader();
  await reader.read();
  await reader.read();
  await time.pass(119_999);
  expect(await taken()).toMatchObject({ tokens: 60, slots: 1 });
  await time.pass(1);
  expect(model.delivered[0]!.end).toBe('cancelled');
  expect(await taken()).toMatchObject({ tokens: 60, slots: 0 });
  expect(events).toEqual([
    expect.objectContaining({ type: 'warning', message: expect.stringContaining('was not read for 120 s') }),
  ]);
  await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError', message: expect.stringContaining('120 s') });
});

test('with `drain` a stream that is left or not read is read to its end, and costs its usage', async () => {
  for (const way of ['cancelled', 'not read'] as const) {
    limiter = limiterOf();
    const model = new ScriptedModel([finished]);
    const { stream } = await wrapped(model, { onAbandoned: 'drain' }).doStream({ prompt });
    const reader = stream.getReader();
    await reader.read();
    if (way === 'cancelled') await reader.cancel();
    else await time.pass(120_000);
    await expect.poll(taken).toMatchObject({ tokens: 18, slots: 0 });
    expect(model.delivered[0]!.end).toBe('open');
    const later = await reader.read().catch((error: Error) => error.name);
    expect(later).toEqual(way === 'cancelled' ? { done: true, value: undefined } : 'AbortError');
  }
  expect(events).toHaveLength(1);
});

test('with `drain` a provider that is silent for two minutes is cancelled', async () => {
  const model = new ScriptedModel([{ parts: answered, end: 'hangs' }]);
  const { stream } = await wrapped(model, { onAbandoned: 'drain' }).doStream({ prompt });
  await stream.cancel();
  await time.pass(119_999);
  expect(await taken()).toMatchObject({ slots: 1 });
  await time.pass(12_001);
  expect(model.delivered[0]!.end).toBe('cancelled');
  expect(await taken()).toMatchObject({ tokens: 60, slots: 0 });
});

test('a stream whose provider is silent for two minutes loses its slots, with an event, and is settled at its end', async () => {
  const { stream } = await wrapped(new ScriptedModel([{ parts: answered, end: 'hangs' }])).doStream({ prompt });
  const reader = stream.getReader();
  for (const _ of answered) await reader.read();
  void reader.read();
  await time.pass(120_000);
  expect(await taken()).toMatchObject({ tokens: 60, slots: 0 });
  expect(events).toMatchObject([
    { type: 'warning', message: expect.stringContaining('no part of a stream for 120 s') },
  ]);
});

test('a stream of many parts is abandoned no sooner than two minutes after the last, and a tenth later at most', async () => {
  const parts = textParts(...Array.from({ length: 50 }, () => 'four'));
  const { stream } = await wrapped(new ScriptedModel([{ parts, end: 'hangs' }])).doStream({ prompt });
  const reader = stream.getReader();
  for (const i of parts.keys()) {
    if (i === 40) await time.pass(5000);
    await reader.read();
  }
  await time.pass(119_999);
  expect(events).toEqual([]);
  await time.pass(12_001);
  expect(await taken()).toMatchObject({ tokens: 10 + 50, slots: 0 });
});

test('each part begins the idle time anew', async () => {
  const { stream } = await wrapped(new ScriptedModel([finished]), { idle: '10s' }).doStream({ prompt });
  const reader = stream.getReader();
  await time.pass(6000);
  await reader.read();
  await time.pass(6000);
  expect(await taken()).toMatchObject({ slots: 1 });
  await time.pass(4000);
  expect(await taken()).toMatchObject({ slots: 0 });
});

test('a watched stream keeps no process alive', async () => {
  await wrapped(new ScriptedModel([finished]), { limits: { Tokens: 'tokens' } }).doStream({ prompt });
  expect(time.pending).toBe(0);
});

test('a number that the usage lacks is that of the estimate, and what a total has more is of the usual kind', async () => {
  const { input, output } = { input: [40, undefined] as const, output: [undefined, 30] as const };
  const usages = [
    [usageOf(...input), 40 + 50],
    [usageOf(...output), 10 + 30],
    [usageOf(undefined, undefined), 10 + 50],
    [
      {
        inputTokens: { total: undefined, noCache: 5, cacheRead: 3, cacheWrite: 2 },
        outputTokens: { total: 8, text: 2, reasoning: undefined },
      },
      10 + 8,
    ],
    [
      {
        inputTokens: { total: 100, noCache: undefined, cacheRead: 90, cacheWrite: undefined },
        outputTokens: { total: undefined, text: 2, reasoning: 3 },
      },
      100 + 5,
    ],
  ] as const;
  for (const [usage, tokens] of usages) {
    limiter = limiterOf();
    await wrapped(new ScriptedModel([{ parts: [finishPart(usage)], end: 'closes' }])).doGenerate({ prompt });
    expect(await taken()).toMatchObject({ tokens });
  }
});

test('cached and reasoning tokens have weights of their own, by default those of the others; a cost is rounded up', async () => {
  const usage = {
    inputTokens: { total: 100, noCache: undefined, cacheRead: 90, cacheWrite: 4 },
    outputTokens: { total: 11, text: undefined, reasoning: 3 },
  };
  const weighed = [
    [{ input: 1, cacheRead: 0.1, cacheWrite: 1.25, output: 5, reasoning: 6 }, 6 + 9 + 5 + 8 * 5 + 3 * 6],
    [{ input: 1, output: 5 }, 155],
    [{ input: 0, output: 0.1 }, 2],
    [{ input: 0.1, output: 0 }, 10],
  ] as const;
  for (const [Month, money] of weighed) {
    limiter = limiterOf();
    const model = wrapped(new ScriptedModel([{ parts: [finishPart(usage)], end: 'closes' }]), { limits: { Month } });
    await model.doGenerate({ prompt });
    expect(await taken()).toMatchObject({ money });
  }
});

test('a usage that is not a number is an event, and the estimate counts', async () => {
  for (const [wrong, shown] of [
    [NaN, 'NaN'],
    ['7' as unknown as number, "'7'"],
  ] as const) {
    limiter = limiterOf();
    events = [];
    await wrapped(new ScriptedModel([{ parts: [finishPart(usageOf(wrong, 30))], end: 'closes' }])).doGenerate({
      prompt,
    });
    expect(await taken()).toMatchObject({ tokens: 10 + 30 });
    expect(events).toEqual([{ type: 'warning', message: expect.stringContaining(`a usage of ${shown} tokens`) }]);
  }
});

test('each step of a loop of tools is a decision of its own, with its results in the next estimate', async () => {
  const call = { type: 'tool-call', toolCallId: '1', toolName: 'sum', input: '{"of":[1,2]}' } as const;
  const model = new ScriptedModel([
    { parts: [call, finishPart(usageOf(100, 20), 'tool-calls')], end: 'closes' },
    { parts: [...textParts('three'), finishPart(usageOf(130, 5))], end: 'closes' },
  ]);
  const sum = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 3 });
  const { text } = await generateText({
    model: wrapped(model),
    prompt: '1 + 2',
    tools: { sum },
    stopWhen: stepCountIs(3),
  });
  expect(text).toBe('three');
  expect(await taken()).toEqual({ requests: 2, tokens: 120 + 135, money: 2 * 230 + 10 * 25, slots: 0 });
});

test('the parts of a call of a tool count as answer, in pieces or whole', async () => {
  const piece = (delta: string) => ({ type: 'tool-input-delta', id: '1', delta }) as const;
  const whole = { type: 'tool-call', toolCallId: '1', toolName: 'sum', input: '{"of":[1,2]}' } as const;
  for (const parts of [[whole], [piece('{"of":'), piece('[1,2]}'), whole], [piece('{"of":'), piece('[1,2]}')]]) {
    limiter = limiterOf();
    const { stream } = await wrapped(new ScriptedModel([{ parts, end: 'closes' }])).doStream({ prompt });
    await readAll(stream);
    expect(await taken()).toMatchObject({ tokens: 10 + 3 });
  }
});

test('each retry is a decision of its own', async () => {
  const model = new ScriptedModel([{ ...finished, refused: 500 }, { ...finished, refused: 503 }, finished]);
  await generateText({ model: wrapped(model), prompt: 'hello' });
  expect(model.delivered.map(({ end }) => end)).toEqual(['refused', 'refused', 'closed']);
  expect(await taken()).toEqual({ requests: 3, tokens: 18, money: 92, slots: 0 });
});

test('with `retry` the AI SDK calls again after the wait of the decision', async () => {
  const calls: boolean[] = [];
  limiter = createLimiter({
    limits: { Requests: { key, burst: 1, count: 1, period: '5ms' } },
    time,
    // The SDK waits in real time.
    onDecision({ allowed }) {
      calls.push(allowed);
      if (calls.length === 3) time.advance(5);
    },
  }) as never;
  const model = wrapped(new ScriptedModel([finished]), { limits: { Requests: 1 }, retry: true });
  await generateText({ model, prompt: 'hello' });
  await generateText({ model, prompt: 'hello' });
  expect(calls).toEqual([true, false, false, true]);
});

test('with `wait` a call takes its turn in the queue, and its signal ends the wait', async () => {
  limiter = createLimiter({
    limits: { Requests: { key, burst: 1, count: 1, period: '1s', maxWait: '10s' } },
    time,
  }) as never;
  const scripted = new ScriptedModel([finished]);
  const model = wrapped(scripted, { limits: { Requests: 1 }, wait: true });
  await model.doGenerate({ prompt });
  const controller = new AbortController();
  const waiting = model.doGenerate({ prompt, abortSignal: controller.signal });
  const behind = model.doGenerate({ prompt });
  await time.pass(500);
  controller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  expect(scripted.delivered).toHaveLength(1);
  await time.pass(1500);
  await behind;
  expect(scripted.delivered).toHaveLength(2);
});

test('a function gives the id of each call, or an id for each limit', async () => {
  const seen: unknown[] = [];
  const model = wrapped(new ScriptedModel([finished]), {
    id: ({ providerOptions }) => {
      const user = providerOptions?.['app']?.['user'] as string;
      seen.push(user);
      return { Requests: user, Tokens: id, InProgress: id };
    },
  });
  await generateText({ model, prompt: 'hello', providerOptions: { app: { user: '7' } } });
  expect(seen).toEqual(['7']);
  expect(await limiter.usage([{ limit: 'Requests', id: '7' }])).toMatchObject([{ used: 1 }]);
  expect(await taken()).toMatchObject({ requests: 0, tokens: 18, money: 92 });
});

test('what an estimate of your own leaves out is estimated as usual', async () => {
  const hanging = new ScriptedModel([{ parts: [], end: 'hangs' }]);
  await wrapped(hanging, { estimate: () => ({ input: 100 }) }).doStream({ prompt });
  await wrapped(hanging, { estimate: () => undefined }).doStream({ prompt, maxOutputTokens: 5 });
  expect(await taken()).toMatchObject({ tokens: 150 + 15 });
});

test('the estimate counts tools, schemas, results of tools and files, and the larger bound of the answer', async () => {
  const output = { type: 'text', value: '42' } as const;
  const call = wrapped(new ScriptedModel([finished]), { limits: { Tokens: 'tokens' } }).doGenerate({
    prompt: [
      { role: 'system', content: 'four' },
      { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'A'.repeat(10_000) }] },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: '1', toolName: 'sum', output }] },
    ],
    tools: [{ type: 'function', name: 'sum', inputSchema: {} }],
    responseFormat: { type: 'json' },
    maxOutputTokens: 1,
    providerOptions: { openai: { maxCompletionTokens: 8 } },
  });
  const lengths = [4, 4000, JSON.stringify(output).length, 50, 15];
  const input = Math.ceil(lengths.reduce((sum, length) => sum + length) / 4);
  await expect(call).rejects.toThrow(`estimated at ${input} input and 8 output tokens`);
});

test('embeddings cost the tokens of their texts', async () => {
  const vectors = { embeddings: [[1]], warnings: [] };
  const model = wrapEmbeddingModel({
    model: new MockEmbeddingModelV3({ doEmbed: async () => ({ ...vectors, usage: { tokens: 33 } }) }),
    middleware: budget({ limiter, limits: { Tokens: 'tokens', Month: { input: 2, output: 0 } }, id }),
  });
  await embed({ model, value: 'hello' });
  expect(await taken()).toMatchObject({ tokens: 33, money: 66 });
  const silent = wrapEmbeddingModel({
    model: new MockEmbeddingModelV3({ doEmbed: async () => vectors }),
    middleware: budget({ limiter, limits: { Tokens: 'tokens' }, id }),
  });
  await embed({ model: silent, value: 'eight..8' });
  expect(await taken()).toMatchObject({ tokens: 33 + 2 });
});

test('a limiter that is closed while a stream is read does not break the stream, and the event says so', async () => {
  const { stream } = await wrapped(new ScriptedModel([finished])).doStream({ prompt });
  await limiter.close();
  expect(await readAll(stream)).toEqual(finished.parts);
  expect(events).toContainEqual({ type: 'warning', message: expect.stringContaining('stays as it was estimated') });
});

test('a text stream of the AI SDK is settled by its end', async () => {
  const { text } = streamText({ model: wrapped(new ScriptedModel([finished])), prompt: 'hello' });
  expect(await text).toBe('eight..8sixteen.');
  expect(await taken()).toMatchObject({ tokens: 18, slots: 0 });
});
