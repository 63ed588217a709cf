import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import { around, budget, usageOf, type BudgetOptions } from '../src/index.ts';
import { finishPart, ScriptedModel, textParts, usageOf as usageOfModel } from './scripted-model.ts';

const key = accountId();
const id = '12345678';
/** 8 characters: 2 tokens, of the prompt and of the answer. */
const text = 'eight..8';

let events: LimiterEvent[];
let limiter: ReturnType<typeof limiterOf>;
/** How often the provider was asked. */
let asked: number;

function limiterOf() {
  return createLimiter({
    limits: {
      Tokens: { key, burst: 1000, count: 1000, period: '1m' },
      Month: quota({ key, count: 5000, per: 'month' }),
      InProgress: concurrency({ key, concurrency: 2 }),
    },
    log: false,
    onEvent: (event) => events.push(event),
  });
}

beforeEach(() => {
  events = [];
  limiter = limiterOf();
  asked = 0;
});

type Options = BudgetOptions<'Tokens' | 'Month' | 'InProgress'>;

/** A call of a model: what bounds its answer, and the usage that the provider reports. */
interface Call {
  readonly most?: number | undefined;
  readonly input?: number;
  readonly output?: number;
  readonly isStreamed?: boolean;
}

/** Makes a call with a budget, of a provider that answers. */
type Make = (options: Options, call: Call) => Promise<unknown>;

const throughBudget: Make = async (options, { most, input = 2, output = 2, isStreamed }) => {
  const parts = [...textParts(text), finishPart(usageOfModel(input, output))];
  const scripted = new ScriptedModel([{ parts, end: 'closes' }]);
  const model = wrapLanguageModel({ model: scripted, middleware: budget(options) });
  const call = { model, prompt: text, ...(most === undefined ? {} : { maxOutputTokens: most }) };
  try {
    await (isStreamed === true ? streamText(call).consumeStream() : generateText(call));
  } finally {
    asked = scripted.delivered.length;
  }
};

const throughAround: Make = async (options, { most, input = 2, output = 2, isStreamed = false }) => {
  const usage = { prompt_tokens: input, completion_tokens: output };
  const parts = [{ choices: [{ index: 0, delta: { content: text } }] }, { choices: [], usage }];
  const openai = new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    async fetch() {
      asked += 1;
      if (!isStreamed) return Response.json({ choices: [{ index: 0, message: { content: text } }], usage });
      const body = [...parts.map((part) => JSON.stringify(part)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const call = around(
    options as object as Parameters<typeof around>[0],
    (params: OpenAI.ChatCompletionCreateParams) => openai.chat.completions.create(params),
    usageOf.openai,
  );
  const messages = [{ role: 'user' as const, content: text }];
  const answer = await call({ model: 'any', messages, max_completion_tokens: most ?? null, stream: isStreamed });
  if (Symbol.asyncIterator in answer) for await (const _ of answer);
};

const thrown = new Error('no session');
function throwing(): never {
  throw thrown;
}

/** Options and a bound of the answer, and of which error they are: `$` is the name of the function. */
const UNDECIDED: readonly [string, object, number | undefined, message: string][] = [
  ['no id', { id: () => undefined }, 50, '`$.id` must be a text, or texts by the names of limits, but was undefined'],
  ['null as id', { id: () => null }, 50, '`$.id` must be a text, or texts by the names of limits, but was null'],
  ['no id of a limit', { id: () => ({ Month: '1' }) }, 50, '`$.id` must be a text, or texts by the names of limits'],
  ['a number as id', { id: () => 7 }, 50, "Write id: '7'."],
  [
    'an id of a promise',
    { id: () => Promise.resolve(id) },
    50,
    '`$.id` must be a text, or texts by the names of limits',
  ],
  [
    'an id of a promise that rejects',
    { id: () => Promise.reject(thrown) },
    50,
    '`$.id` must be a text, or texts by the names of limits',
  ],
  ['an id function that throws', { id: throwing }, 50, '`$.id` threw "Error: no session". Nothing is called without'],
  ['nothing that bounds the answer', {}, undefined, '$({ maxOutput: 4000 })'],
  ['an estimate that is a number', { estimate: () => 7 }, 50, '`$.estimate()` must be an object of numbers'],
  [
    'an estimate of a promise',
    { estimate: async () => ({ input: 1 }) },
    50,
    '`$.estimate()` must be an object of numbers',
  ],
  [
    'an estimate of a promise that rejects',
    { estimate: () => Promise.reject(thrown) },
    50,
    '`$.estimate()` must be an object of numbers',
  ],
  ['a negative estimate', { estimate: () => ({ input: -1 }) }, 50, '`$.estimate().input` must be a whole number'],
  ['half a token', { estimate: () => ({ output: 0.5 }) }, 50, '`$.estimate().output` must be a whole number'],
  ['10¹³ tokens', { estimate: () => ({ input: 1e13 }) }, 50, '`$.estimate().input` must be a whole number'],
  [
    'an estimate above the burst',
    {},
    5000,
    'must be at most the burst, 1000, but was 5002. Such a request could never pass, however long it waits. Raise the burst',
  ],
  [
    'an estimate above the count of a quota',
    { limits: { Month: { input: 1, output: 2 } } },
    5000,
    'must be at most the count, 5000, but was 10002. Such a request could never pass, however long it waits. Raise the count',
  ],
];

describe.each([
  ['budget', throughBudget],
  ['around', throughAround],
])('%s', (name, make) => {
  test.each(UNDECIDED)('%s is an error before the provider is called', async (_, options, most, message) => {
    const limits = { Tokens: 'tokens', InProgress: 1 };
    const call = make({ limiter, limits, id, ...options } as Options, { most });
    await expect(call).rejects.toThrow(message.replace('$', name));
    expect(asked).toBe(0);
    expect(await limiter.check([{ limit: 'InProgress', id }])).toMatchObject({ remaining: 2 });
  });

  test('the error of an id function has what it threw as its cause', async () => {
    const call = make({ limiter, limits: { Tokens: 'tokens' }, id: throwing }, { most: 50 });
    await expect(call).rejects.toMatchObject({ code: 'ERR_KEY', cause: thrown });
  });

  test.each([
    { part: 'input', isStreamed: false, used: 2 + 7 },
    { part: 'input', isStreamed: true, used: 2 + 7 },
    { part: 'output', isStreamed: false, used: 7 + 50 },
    { part: 'output', isStreamed: true, used: 7 + 50 },
  ])(
    'a usage that is not a whole number of tokens is an event, and the estimate counts: $part, streamed: $isStreamed',
    async (each) => {
      const { part, isStreamed, used } = each;
      for (const wrong of [-1, 1.5, 1e13]) {
        limiter = limiterOf();
        events = [];
        const options = { limiter, limits: { Month: 'tokens', InProgress: 1 }, id, maxOutput: 50 } as const;
        await make(options, { input: 7, output: 7, [part]: wrong, isStreamed });
        expect(asked).toBeGreaterThan(0);
        expect(events).toEqual([{ type: 'warning', message: expect.stringContaining(`a usage of ${wrong} tokens`) }]);
        expect(await limiter.usage([{ limit: 'Month', id }])).toMatchObject([{ used }]);
        expect(await limiter.check([{ limit: 'InProgress', id }])).toMatchObject({ remaining: 2 });
      }
    },
  );
});
