import { accountId, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { generateText, wrapLanguageModel, wrapProvider } from 'ai';
import * as ai5 from 'ai5';
import { MockLanguageModelV2 } from 'ai5/test';
import { expect, test } from 'vitest';
import { around, budget, usageOf as usageOfSdk } from '../src/index.ts';
import { finishPart, ScriptedModel, textParts, usageOf } from './scripted-model.ts';

const key = accountId();
const limiter = createLimiter({
  limits: {
    Tokens: { key, burst: 1000, count: 1000, period: '1m' },
    Month: quota({ key, count: 5000, per: 'month' }),
    Year: quota({ key, count: 1_000_000_000_000, per: 'year' }),
    InProgress: concurrency({ key, concurrency: 2 }),
  },
});
const right = { limiter, limits: { Tokens: 'tokens' }, id: '12345678', maxOutput: 50 } as const;

const aroundWith = (options: object) => around(options as typeof right, async () => ({}), usageOfSdk.openai);

test('a wrong option of a budget, or of around, is an error that says what to write', () => {
  const wrong: [object, string][] = [
    [{ limiter: undefined }, '`budget.limiter` must be a limiter, but was undefined. Make one with createLimiter'],
    [{ limiter: {} }, '`limiter` must be made by createLimiter, but was {}'],
    [{ limiter: { ...limiter, spend() {} } }, 'A wrapper around a limiter does not work'],
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
  const ofAround = wrong.filter(([option]) => !('retry' in option));
  for (const [option, message] of ofAround) {
    expect(() => aroundWith({ ...right, ...option })).toThrow(message.replaceAll('budget', 'around'));
  }
  for (const [option, message] of wrong) {
    expect(() => budget({ ...right, ...option })).toThrow(message);
  }
});

test('a fixed cost may be the whole count of a yearly quota', async () => {
  const model = new ScriptedModel([{ parts: [...textParts('hello'), finishPart(usageOf(1, 1))], end: 'closes' }]);
  const middleware = budget({ ...right, limits: { Year: 10 ** 12 } });
  await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'eight..8' });
  expect(await limiter.usage([{ limit: 'Year', id: right.id }])).toMatchObject([{ used: 10 ** 12 }]);
});

test('limits of everyone need no id, and of several ids the one that is missing is named', async () => {
  const all = createLimiter({ limits: { All: quota({ key: everyone(), count: 10, per: 'day' }) } });
  const asked = async (options: object) => {
    const model = new ScriptedModel([{ parts: [...textParts('hello'), finishPart(usageOf(1, 1))], end: 'closes' }]);
    const middleware = budget({ ...right, ...options });
    await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'eight..8' });
  };
  for (const id of [undefined, () => undefined]) await asked({ limiter: all, limits: { All: 1 }, id });
  expect(await all.usage([{ limit: 'All', id: 'everyone' }])).toMatchObject([{ used: 2 }]);
  await expect(asked({ limits: { Tokens: 1, Month: 1 }, id: { Tokens: '12345678' } })).rejects.toThrow(
    '`budget.id` must be a text, or texts by the names of limits, with one for "Month", but was',
  );
});

const ofOtherSdk = 'Update `ai` to 6 or 7';

test('a model of the AI SDK 5 is an error before it is called', async () => {
  const model = new MockLanguageModelV2();
  const wrapped = ai5.wrapLanguageModel({ model, middleware: budget(right) as object });
  await expect(ai5.generateText({ model: wrapped, prompt: 'hello' })).rejects.toThrow(ofOtherSdk);
  const errors: unknown[] = [];
  const onError = ({ error }: { error: unknown }) => void errors.push(error);
  await ai5.streamText({ model: wrapped, prompt: 'hello', onError }).consumeStream();
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining(ofOtherSdk) })]);
  expect([...model.doGenerateCalls, ...model.doStreamCalls]).toEqual([]);
});

test('a model of the first specification is an error before it is called', async () => {
  const calls: string[] = [];
  const first = {
    specificationVersion: 'v1',
    provider: 'any',
    modelId: 'any',
    defaultObjectGenerationMode: 'json',
    doGenerate: async () => calls.push('doGenerate'),
    doStream: async () => calls.push('doStream'),
  };
  const model = first as object as ScriptedModel;
  const middleware = budget(right);
  const provider = { languageModel: () => model } as object as Parameters<typeof wrapProvider>[0]['provider'];
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
  for (const wrapped of [
    wrapLanguageModel({ model, middleware }),
    // The AI SDK takes it for a model of a later specification of a provider.
    wrapProvider({ provider, languageModelMiddleware: middleware }).languageModel('any'),
  ]) {
    await expect(wrapped.doGenerate({ prompt })).rejects.toThrow(ofOtherSdk);
    await expect(wrapped.doStream({ prompt })).rejects.toThrow(ofOtherSdk);
    await expect(generateText({ model: wrapped, prompt: 'hello' })).rejects.toThrow(ofOtherSdk);
  }
  expect(calls).toEqual([]);
});

test('a model of embeddings of an older specification is an error before it is called', async () => {
  const { wrapEmbed } = budget(right);
  const doEmbed = () => Promise.reject(new Error('it was called'));
  for (const specificationVersion of ['v1', 'v2']) {
    const call = wrapEmbed({ doEmbed, params: { values: ['hello'] }, model: { specificationVersion } });
    await expect(call).rejects.toThrow(ofOtherSdk);
  }
});
