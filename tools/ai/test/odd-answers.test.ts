import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { beforeEach, expect, test } from 'vitest';
import { around, budget, usageOf } from '../src/index.ts';
import { readAll } from './sdks.ts';

const key = accountId();
const id = '12345678';
const ESTIMATE = 10;

let events: LimiterEvent[];
let limiter: ReturnType<typeof limiterOf>;

function limiterOf() {
  return createLimiter({
    limits: { Tokens: quota({ key, count: 1000, per: 'day' }), InProgress: concurrency({ key, concurrency: 2 }) },
    log: false,
    onEvent: (event) => events.push(event),
  });
}

beforeEach(() => {
  events = [];
  limiter = limiterOf();
});

const options = () => ({ limiter, limits: { Tokens: 'tokens', InProgress: 1 }, id, maxOutput: ESTIMATE }) as const;
const answered = (answer: unknown) => around(options(), async () => answer, usageOf.openai)({ messages: [] });

async function taken() {
  const [tokens] = await limiter.usage([{ limit: 'Tokens', id }]);
  const { remaining } = await limiter.check([{ limit: 'InProgress', id }]);
  return { tokens: tokens!.used, slots: 2 - remaining };
}

const LOST = { type: 'warning', message: expect.stringContaining('The estimate counts instead.') as string };

test.each<[what: string, usage: object]>([
  ['an object that can not be a text', { prompt_tokens: { toString: null } }],
  ['lists', { prompt_tokens: [1], completion_tokens: [] }],
  ['a text', 'much' as never],
])('a usage of %s does not lose the answer: the estimate stays charged', async (_, usage) => {
  const answer = { choices: [], usage };
  expect(await answered(answer)).toBe(answer);
  expect(await taken()).toEqual({ tokens: ESTIMATE, slots: 0 });
});

test('a usage that is no number is an event', async () => {
  await answered({ usage: { prompt_tokens: { toString: null } } });
  expect(events).toEqual([LOST]);
});

test('a stream whose iterator returns no promises is read to its end', async () => {
  let calls = 0;
  const iterator = {
    next: () => ({ value: { choices: [{ index: 0, delta: { content: 'eight..8' } }] }, done: (calls += 1) > 3 }),
  };
  const stream = (await answered({ [Symbol.asyncIterator]: () => iterator })) as AsyncIterable<unknown>;
  expect(await readAll(stream)).toHaveLength(3);
  expect(await taken()).toEqual({ tokens: 6, slots: 0 });
});

test('a stream whose iterator throws, or has no result, ends its call', async () => {
  for (const next of [() => undefined, () => null]) {
    const stream = (await answered({ [Symbol.asyncIterator]: () => ({ next }) })) as AsyncIterable<unknown>;
    await expect(readAll(stream)).rejects.toThrow(TypeError);
    expect(await taken()).toMatchObject({ slots: 0 });
  }
  const next = () => {
    throw new Error('broken');
  };
  const stream = (await answered({ [Symbol.asyncIterator]: () => ({ next }) })) as AsyncIterable<unknown>;
  await expect(readAll(stream)).rejects.toThrow('broken');
  expect(await taken()).toMatchObject({ slots: 0 });
});

test('a stream that is frozen is the answer: its estimate stays charged, with an event', async () => {
  const frozen = Object.freeze({
    async *[Symbol.asyncIterator]() {
      yield 'part';
    },
  });
  const stream = await answered(frozen);
  expect(stream).toBe(frozen);
  expect(await readAll(stream as AsyncIterable<unknown>)).toEqual(['part']);
  expect(await taken()).toEqual({ tokens: ESTIMATE, slots: 0 });
  expect(events).toEqual([LOST]);
});

test('a model without a result, or with a stream of another kind, is passed on: its estimate stays charged, with an event', async () => {
  const model = { specificationVersion: 'v3' };
  const params = { prompt: [], values: [] };
  const other = { stream: { async *[Symbol.asyncIterator]() {} } } as never;
  const calls: [result: unknown, call: (result: never) => Promise<unknown>][] = [
    [undefined, (result) => budget(options()).wrapGenerate({ doGenerate: async () => result, params, model })],
    [undefined, (result) => budget(options()).wrapStream({ doStream: async () => result, params, model })],
    [other, (result) => budget(options()).wrapStream({ doStream: async () => result, params, model })],
    [null, (result) => budget(options()).wrapEmbed({ doEmbed: async () => result, params, model })],
  ];
  for (const [result, call] of calls) {
    limiter = limiterOf();
    events = [];
    expect(await call(result as never)).toBe(result);
    expect(await taken()).toMatchObject({ slots: 0 });
    expect(events).toEqual([LOST]);
  }
});

test('parts that can not be read reach their reader: the estimate stays charged, with an event', async () => {
  const error = { type: 'error', error: new Error('overloaded') };
  const streams: unknown[][] = [
    [null],
    [{ type: 'text-delta', delta: 'a' }, undefined],
    [error, { type: 'finish', usage: null }],
  ];
  for (const parts of streams) {
    limiter = limiterOf();
    events = [];
    const stream = new ReadableStream({
      start(controller) {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    const call = { doStream: async () => ({ stream }), params: { prompt: [] }, model: { specificationVersion: 'v3' } };
    const result = await budget(options()).wrapStream(call);
    expect(await readAll(result.stream as never)).toEqual(parts);
    expect(await taken()).toEqual({ tokens: ESTIMATE, slots: 0 });
    expect(events).toEqual([LOST]);
  }
});
