import { accountId, createLimiter, SluiceError } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { expect, test } from 'vitest';
import { around, budget, usageOf, type CallParams } from '../src/index.ts';

const id = '12345678';
const MAX_OUTPUT = 4000;
const FILE = 1000;
const newLimiter = () =>
  createLimiter({
    limits: {
      Tokens: quota({ key: accountId(), count: 1e12, per: 'year' }),
      Calls: quota({ key: accountId(), count: 9, per: 'day' }),
    },
  });

/** What a call takes before the provider is asked. */
async function estimated(
  call: (limiter: ReturnType<typeof newLimiter>, ask: () => Promise<never>) => Promise<unknown>,
) {
  const limiter = newLimiter();
  let taken: number | undefined;
  const ask = async () => {
    const [used] = await limiter.usage([{ limit: 'Tokens', id }]);
    taken = used!.used;
    return {} as never;
  };
  await call(limiter, ask);
  return taken;
}

const plain = (params: object, options: object = {}) =>
  estimated((limiter, ask) =>
    around(
      { limiter, limits: { Tokens: 'tokens' }, id, maxOutput: MAX_OUTPUT, ...options },
      ask,
      usageOf.openai,
    )(params),
  );

const ofSdk = (params: CallParams, options: object = {}) =>
  estimated((limiter, doGenerate) =>
    budget({ limiter, limits: { Tokens: 'tokens' }, id, maxOutput: MAX_OUTPUT, ...options }).wrapGenerate({
      doGenerate,
      params,
      model: { specificationVersion: 'v3' },
    }),
  );

/** 400 bytes: 100 tokens. */
const messages = [{ role: 'user', content: 'x'.repeat(400) }];
/** 90,000 tokens. */
const text = 'lorem '.repeat(60_000);
const base64 = Buffer.alloc(1_500_000, 'any bytes of an image').toString('base64');
const user = (content: unknown) => ({ messages: [{ role: 'user', content }], max_tokens: 0 });
const turn = (item: object) => ({ input: [item, { role: 'user', content: 'bluer' }], max_output_tokens: 0 });

test.each<[what: string, params: object, tokens: number]>([
  ['no answers', { messages, max_tokens: 1000, n: 0 }, 100 + 1000],
  ['a number of answers that is null', { messages, max_tokens: 1000, n: null }, 100 + 1000],
  ['a number of answers in a text', { messages, max_tokens: 1000, n: '8' }, 100 + 8000],
  ['a bound in a text', { messages, max_tokens: '1000' }, 100 + 1000],
  ['answers without a bound', { messages, n: 3 }, 100 + 3 * MAX_OUTPUT],
  ['the best of 20', { prompt: 'four', max_tokens: 1000, best_of: 20, n: 2 }, 1 + 20_000],
  ['20 prompts', { prompt: Array(20).fill('four'), max_tokens: 1000 }, 20 + 20_000],
  ['two prompts of tokens, twice', { prompt: [[1, 2, 3], [4]], max_tokens: 1000, n: 2 }, 4 + 4000],
  ['a prompt of tokens', { prompt: [1, 2, 3], max_tokens: 1000 }, 3 + 1000],
  ['many tokens', { input: Array(90_000).fill(1234), max_output_tokens: 0 }, 90_000],
  ['images', { prompt: 'four', n: 4, model: 'an-image-model', size: '1024x1024' }, 1 + 4 * MAX_OUTPUT],
  ['a file that is uploaded', { prompt: 'four', max_tokens: 0, image: new File(['png'], 'a.png') }, 1 + FILE],
  ['functions', { messages, functions: [{ name: 'a', description: text }], max_tokens: 0 }, 100 + 90_008],
  [
    '1,000 messages without a text',
    { messages: Array.from({ length: 1000 }, () => ({ role: 'user', content: '' })), max_tokens: 0 },
    999 * 4,
  ],
  ['two messages', { messages: [...messages, ...messages], max_tokens: 0 }, 200],
  ['text in Chinese', user('你好'.repeat(200)), 300],
  ['a prediction', { messages, prediction: { type: 'content', content: text }, max_tokens: 0 }, 100 + 90_000],
])('%s cost what servers count', async (_, params, tokens) => {
  expect(await plain(params)).toBe(tokens);
});

test.each<[what: string, params: object]>([
  ['a document', user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } }])],
  [
    'a document of blocks',
    user([{ type: 'document', source: { type: 'content', content: [{ type: 'text', text }] } }]),
  ],
  ['`detail` of an input', user([{ type: 'tool_use', id: 'a', name: '', input: { detail: text } }])],
  ['`id` of an input', user([{ type: 'tool_use', id: 'a', name: '', input: { id: text, type: 'x' } }])],
  ['`detail` of a part', user([{ type: 'text', text: '', detail: text }])],
  ['a result of a tool', user([{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text }] }])],
  ['arguments of a function', user([{ type: 'function_call', arguments: text }])],
  [
    'an output of a function that has base64',
    turn({ type: 'function_call_output', call_id: 'a', output: base64.slice(0, 360_000) }),
  ],
  ['base64 that a user writes', user(base64.slice(0, 360_000))],
  ['a text file in base64', user([{ type: 'file', file: { file_data: `data:text/csv;base64,${btoa(text)}` } }])],
])('text counts as text: %s', async (_, params) => {
  expect(await plain(params)).toBeGreaterThanOrEqual(90_000);
  expect(await plain(params)).toBeLessThan(90_020);
});

test.each<[what: string, params: object]>([
  ['a generated image', turn({ type: 'image_generation_call', id: 'ig', status: 'completed', result: base64 })],
  ['encrypted thoughts', turn({ type: 'reasoning', id: 'rs', summary: [], encrypted_content: base64 })],
  ['redacted thoughts', user([{ type: 'redacted_thinking', data: base64 }])],
  ['a signature', user([{ type: 'thinking', thinking: '', signature: base64 }])],
  [
    'a screenshot',
    turn({
      type: 'computer_call_output',
      output: { type: 'computer_screenshot', image_url: `data:image/png;base64,${base64}` },
    }),
  ],
  ['an image', user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}`, detail: 'high' } }])],
  ['a source', user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }])],
  ['audio', user([{ type: 'input_audio', input_audio: { data: base64, format: 'wav' } }])],
  ['an identifier of a file', user([{ type: 'file', file: { file_id: 'file-abc' } }])],
  ['a link to a file', user([{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }])],
  ['bytes under a name that is not known', turn({ type: 'of_tomorrow', blob: base64 })],
])('bytes of a file count as one file: %s', async (_, params) => {
  expect(await plain(params)).toBeGreaterThanOrEqual(FILE);
  expect(await plain(params)).toBeLessThan(FILE + 5);
});

test('what cites a source is no file', async () => {
  const annotations = Array.from({ length: 20 }, () => ({
    type: 'url_citation',
    url: 'https://example.com/',
    title: 'A page',
  }));
  const params = turn({
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'x'.repeat(35), annotations }],
  });
  expect(await plain(params)).toBe(10);
});

const part = (content: object) =>
  ({ prompt: [{ role: 'user', content: [content] }], maxOutputTokens: 0 }) as CallParams;
const result = (output: object) => part({ type: 'tool-result', toolCallId: '1', toolName: 'sum', output });

test.each<[what: string, params: CallParams, least: number]>([
  ['a text file in base64', part({ type: 'file', mediaType: 'text/plain', data: btoa(text) }), 90_000],
  ['bytes of a text file', part({ type: 'file', mediaType: 'text/plain', data: Buffer.from(text) }), 90_000],
  ['a text file of the AI SDK 7', part({ type: 'file', mediaType: 'text', data: { type: 'text', text } }), 90_000],
  ['an image', part({ type: 'file', mediaType: 'image/png', data: base64 }), FILE],
  [
    'an image of the AI SDK 7',
    part({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: base64 } }),
    FILE,
  ],
  ['a link', part({ type: 'file', mediaType: 'image/png', data: new URL('https://example.com/a.png') }), FILE],
  [
    'a reference',
    part({ type: 'file', mediaType: 'image/png', data: { type: 'reference', reference: { a: 'b' } } }),
    FILE,
  ],
  ['an input of a tool', part({ type: 'tool-call', toolCallId: '1', toolName: 'sum', input: { id: text } }), 90_000],
  [
    'an image of a tool',
    result({ type: 'content', value: [{ type: 'media', data: base64, mediaType: 'image/png' }] }),
    FILE,
  ],
  ['text of a tool', result({ type: 'content', value: [{ type: 'text', text }] }), 90_000],
  ['base64 that a model is shown as JSON', result({ type: 'json', value: { data: base64.slice(0, 360_000) } }), 90_000],
])('the AI SDK alike: %s', async (_, params, least) => {
  const tokens = await ofSdk(params);
  expect(tokens).toBeGreaterThanOrEqual(least);
  expect(tokens).toBeLessThan(least + 15);
});

test('a budget of thinking is beside the bound, as providers add it', async () => {
  const providerOptions = { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } };
  expect(await ofSdk({ prompt: [], maxOutputTokens: 1000, providerOptions })).toBe(3000);
  expect(await ofSdk({ prompt: [], providerOptions })).toBe(MAX_OUTPUT + 2000);
});

for (const [name, params] of [
  ['previous_response_id', { previous_response_id: 'resp_1' }],
  ['conversation', { conversation: { id: 'conv_1' } }],
  ['assistant_id', { assistant_id: 'asst_1' }],
  ['prompt.id', { prompt: { id: 'pmpt_1' } }],
  ['input', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
] as const) {
  test(`a call that continues what the provider keeps needs an estimate: ${name}`, async () => {
    const error: unknown = await plain(params).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({
      code: 'ERR_OPTION',
      path: name,
      message: expect.stringContaining('around({ estimate: (params)'),
    });
    expect(await plain(params, { estimate: () => ({ input: 20_000 }) })).toBe(20_000 + MAX_OUTPUT);
  });
}

test('a conversation of the AI SDK needs an estimate as well, unless no limit counts tokens', async () => {
  const params = { prompt: [], providerOptions: { openai: { previousResponseId: 'resp_1' } } };
  await expect(ofSdk(params)).rejects.toThrow('`previousResponseId` continues what the provider keeps');
  expect(await ofSdk(params, { estimate: () => ({ input: 5 }) })).toBe(5 + MAX_OUTPUT);
  expect(await ofSdk(params, { limits: { Calls: 1 } })).toBe(0);
  expect(await plain({ messages, previous_response_id: null, conversation: null })).toBe(100 + MAX_OUTPUT);
});

test('a bound beyond all numbers of tokens is a cost over the burst', async () => {
  const Money = { input: 1_000_000, output: 1_000_000 };
  const limiter = createLimiter({ limits: { Money: quota({ key: accountId(), count: 1000, per: 'day' }) } });
  const call = around({ limiter, limits: { Money }, id }, async () => ({}), usageOf.openai);
  for (const params of [{ max_tokens: 2 ** 53 - 1 }, { max_tokens: 1000, n: 2 ** 50 }]) {
    await expect(call({ messages, ...params })).rejects.toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  }
});
