import { accountId, createLimiter } from '@sluice/core';
import { generateText, wrapLanguageModel } from 'ai';
import { expect, test } from 'vitest';
import { budget } from '../src/index.ts';
import { finishPart, ScriptedModel, textParts, usageOf } from './scripted-model.ts';

const key = accountId();
const limiter = createLimiter({
  limits: {
    Tokens: { key, burst: 1000, count: 1000, period: '1m' },
    Month: { key, count: 5000, per: 'month' },
    Year: { key, count: 1_000_000_000_000, per: 'year' },
    InProgress: { key, concurrency: 2 },
  },
});
const right = { limiter, limits: { Tokens: 'tokens' }, id: '12345678', maxOutput: 50 } as const;

test('a wrong option of a budget is an error that says what to write', () => {
  const wrong: [object, string][] = [
    [{ limiter: {} }, 'limiter'],
    [{ limits: {} }, '`budget.limits` must be an object of costs by the names of limits'],
    [{ limits: { Token: 1 } }, 'Token'],
    [{ limits: { Tokens: 1.5 } }, '`budget.limits.Tokens` must be a whole number from 0 to 1000000000000, but was 1.5'],
    [
      { limits: { Tokens: 1001 } },
      '`budget.limits.Tokens` of limit "Tokens" must be at most 1000, the smallest burst of the limit and its overrides, but was 1001. A larger cost could never pass. Raise the burst',
    ],
    [{ limits: { Month: 5001 } }, 'Raise the count or lower the cost.'],
    [{ limits: { InProgress: 3 } }, 'must be at most 2, the smallest concurrency'],
    [{ limits: { Year: 10 ** 12 + 1 } }, '`budget.limits.Year` must be a whole number from 0 to 1000000000000'],
    [{ limits: { Tokens: 'token' } }, '`budget.limits.Tokens` must be an object'],
    [{ limits: { Month: { input: 1 } } }, '`budget.limits.Month.output` must be a number from 0 to 1000000'],
    [{ limits: { Month: { input: -1, output: 1 } } }, 'dollars per million tokens'],
    [{ limits: { InProgress: 'tokens' } }, 'It counts calls in progress: write 1.'],
    [{ id: undefined }, '`budget.id` must be a text'],
    [{ estimate: 100 }, '`budget.estimate` must be a function'],
    [{ maxOutput: -1 }, '`budget.maxOutput` must be a whole number'],
    [{ idle: '10ms' }, "`budget.idle` must be a duration of whole microseconds from '1s' to '24h'"],
    [{ wait: 'yes' }, '`budget.wait` must be true or false'],
    [{ retry: 1 }, '`budget.retry` must be true or false'],
    [{ maxTokens: 1 }, 'has no option `maxTokens`'],
  ];
  for (const [option, message] of wrong) {
    expect(() => budget({ ...right, ...option })).toThrow(message);
  }
});

test('a fixed cost may be all that a quota of a year counts', async () => {
  const model = new ScriptedModel([{ parts: [...textParts('hello'), finishPart(usageOf(1, 1))], end: 'closes' }]);
  const middleware = budget({ ...right, limits: { Year: 10 ** 12 } });
  await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'eight..8' });
  expect(await limiter.usage([{ limit: 'Year', id: right.id }])).toMatchObject([{ used: 10 ** 12 }]);
});

test('a call that cannot be decided is an error before the model is called', async () => {
  const thrown = new Error('no session');
  const wrong: [object, object, string][] = [
    [{ id: () => undefined }, {}, '`budget.id` must be a text, or texts by the names of limits, but was undefined'],
    [{ id: () => ({ Month: '1' }) }, {}, '`budget.id` must be a text, or texts by the names of limits'],
    [{ id: () => 7 }, {}, "Write id: '7'."],
    [
      {
        id: () => {
          throw thrown;
        },
      },
      {},
      '`budget.id` threw "Error: no session". Nothing is called without an id.',
    ],
    [{ maxOutput: undefined }, {}, 'budget({ maxOutput: 4000 })'],
    [{ estimate: () => 7 }, {}, '`budget.estimate()` must be an object of numbers'],
    [{ estimate: () => ({ input: 0.5 }) }, {}, '`budget.estimate().input` must be a whole number'],
    [
      {},
      { maxOutputTokens: 5000 },
      'must be at most the burst, 1000, but was 5002. Such a request could never pass, however long it waits. Raise the burst',
    ],
    [
      { limits: { Month: { input: 1, output: 2 } } },
      { maxOutputTokens: 5000 },
      'must be at most the count, 5000, but was 10002',
    ],
  ];
  const model = new ScriptedModel([{ parts: [...textParts('hello'), finishPart(usageOf(1, 1))], end: 'closes' }]);
  for (const [option, params, message] of wrong) {
    const middleware = budget({ ...right, ...option });
    const call = generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'eight..8', ...params });
    await expect(call).rejects.toThrow(message);
  }
  expect(model.delivered).toEqual([]);
});

test('the error of an id function has what it threw as its cause', async () => {
  const thrown = new Error('no session');
  const throwing = () => {
    throw thrown;
  };
  const model = new ScriptedModel([{ parts: [], end: 'closes' }]);
  const call = generateText({
    model: wrapLanguageModel({ model, middleware: budget({ ...right, id: throwing }) }),
    prompt: '',
  });
  await expect(call).rejects.toMatchObject({ code: 'ERR_KEY', cause: thrown });
});

test('a model of the first specification, and one of the AI SDK 5 or before, is an error before it is called', async () => {
  const { wrapGenerate, wrapStream, wrapEmbed } = budget(right);
  const refuse = () => Promise.reject(new Error('it was called'));
  const params = { prompt: [], maxOutputTokens: 1 };
  // In the AI SDK 6 and 7, a model of the first specification appears as one of theirs.
  const first = { specificationVersion: 'v3', defaultObjectGenerationMode: 'json' };
  const message = 'Update `ai` to 6 or 7';
  for (const model of [first, { specificationVersion: 'v2' }, { specificationVersion: 'v1' }]) {
    await expect(wrapGenerate({ doGenerate: refuse, params, model })).rejects.toThrow(message);
    await expect(wrapStream({ doStream: refuse, params, model })).rejects.toThrow(message);
    await expect(wrapEmbed({ doEmbed: refuse, params, model })).rejects.toThrow(message);
  }
});
