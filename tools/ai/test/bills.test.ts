import Anthropic from '@anthropic-ai/sdk';
import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { around, usageOf } from '../src/index.ts';
import { GATEWAYS, type Bill, type Gateway } from './gateways.ts';

const CALLS = Number(process.env['SLUICE_AI_CALLS'] ?? sized(400, 10_000));
const MOST = 1000;
const PROMPT = 'x'.repeat(400);
const ESTIMATE = 100 + MOST;
const key = accountId();
const id = '12345678';
const names = Object.keys(GATEWAYS);

/** How an application reads an answer. */
const READERS = ['iterates', 'splits', 'bytes', 'withResponse', 'helper'] as const;
/**
 * How a stream ends: as a whole; its reader leaves, aborts it, or stops to read; its connection breaks; its provider refuses,
 * before the stream or in it.
 */
const ENDS = ['whole', 'left', 'aborted', 'abandoned', 'broken', 'refused', 'overloaded'] as const;

interface Call {
  readonly gateway: string;
  readonly reader: (typeof READERS)[number];
  readonly end: (typeof ENDS)[number];
  readonly bill: Bill;
  readonly words: readonly string[];
  /** How many events of the answer are read before it ends. */
  readonly stopAfter: number;
}

/** What a provider has done for a call. */
interface Provided {
  /** The tokens of the answer that it has generated. */
  generated: number;
  /** Whether it has sent an event of the end, with the usage. */
  hasBilled: boolean;
  /** Whether its last event was sent. */
  isWhole: boolean;
  isStopped: boolean;
}

const encoder = new TextEncoder();

/** A provider that generates as fast as it is read, and notices at once when a client leaves. */
function fetchOf({ gateway, end, bill, words, stopAfter }: Call, provided: Provided): typeof fetch {
  const { sdk, ...provider } = GATEWAYS[gateway]!;
  return async (_url, init) => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'overloaded', code: 'overloaded' } };
    if (end === 'refused') return Response.json(error, { status: 529 });
    const { said, end: last } = provider.events(bill, words);
    const all =
      end === 'overloaded' ? [...said.slice(0, 1).filter(({ type }) => type !== undefined), error] : [...said, ...last];
    let next = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          init?.signal?.addEventListener('abort', () => {
            provided.isStopped = true;
            controller.error(new DOMException('This operation was aborted', 'AbortError'));
          });
        },
        pull(controller) {
          if (provided.isStopped) return;
          if (end === 'broken' && next > stopAfter) return controller.error(new TypeError('terminated'));
          const event = all[next++];
          if (event === undefined) {
            if (sdk === 'chat') controller.enqueue(encoder.encode('data: [DONE]\n\n'));
            provided.isWhole = true;
            return controller.close();
          }
          if (hasText(event)) provided.generated += 2;
          provided.hasBilled ||= next > said.length;
          const name = event.type === undefined ? '' : `event: ${event.type}\n`;
          controller.enqueue(encoder.encode(`: comment\n\n${name}data: ${JSON.stringify(event)}\n\n`));
        },
        cancel() {
          provided.isStopped = true;
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
}

const hasText = (event: object): boolean => /"(content|text|delta)":"word/.test(JSON.stringify(event));

/** A limiter of its own for each call, as every call ends at its own time. */
function limited() {
  const time = new FakeTime();
  const events: LimiterEvent[] = [];
  const limiter = createLimiter({
    limits: { Tokens: quota({ key, count: 1e9, per: 'year' }), InProgress: concurrency({ key, concurrency: 1 }) },
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
  const options = { limiter, id, limits: { Tokens: 'tokens', InProgress: 1 } } as const;
  return { time, events, limiter, options };
}

/** A call of an SDK as an application writes it. */
function callOf({ gateway, reader }: Call, provider: typeof fetch, isStreamed = true) {
  const { sdk } = GATEWAYS[gateway]!;
  const common = { apiKey: 'none', maxRetries: 0, fetch: provider };
  const messages = [{ role: 'user' as const, content: PROMPT }];
  const more = isStreamed && reader !== 'helper' ? { stream: true } : {};
  const chat = { model: 'm', max_tokens: MOST, messages, ...more };
  const response = { model: 'm', max_output_tokens: MOST, input: PROMPT, ...more };
  const [openai, anthropic] = [new OpenAI(common), new Anthropic(common)];
  const { params, api } = {
    chat: { params: chat, api: openai.chat.completions },
    responses: { params: response, api: openai.responses },
    messages: { params: chat, api: anthropic.messages },
  }[sdk] as { params: object; api: { create: Create; stream: Create } };
  const reads = sdk === 'messages' ? usageOf.anthropic : usageOf.openai;
  return { params, reads, call: makes(api, reader) };
}

type Create = (params: object, request?: object) => any;

function makes(api: { create: Create; stream: Create }, reader: Call['reader']) {
  return (params: object, request: { signal: AbortSignal }): any => {
    if (reader === 'helper') return api.stream(params, request);
    const promise = api.create(params, request);
    return reader === 'withResponse' ? promise.withResponse() : promise;
  };
}

/** What an answer is read by. */
function iteratorOf(answer: any, reader: Call['reader']): AsyncIterator<unknown> {
  const stream = reader === 'withResponse' ? answer.data : answer;
  if (reader === 'splits') {
    const [left, right] = stream.tee();
    return together(left[Symbol.asyncIterator](), right[Symbol.asyncIterator]());
  }
  return (reader === 'bytes' ? stream.toReadableStream() : stream)[Symbol.asyncIterator]();
}

function together(left: AsyncIterator<unknown>, right: AsyncIterator<unknown>): AsyncIterator<unknown> {
  return {
    async next() {
      const [one] = await Promise.all([left.next(), right.next()]);
      return one;
    },
    async return() {
      await left.return?.();
      return (await right.return?.()) ?? { done: true, value: undefined };
    },
  };
}

/** Makes a call, reads it to its end, and returns what it was charged. */
async function made(call: Call) {
  const provided: Provided = { generated: 0, hasBilled: false, isWhole: false, isStopped: false };
  const { time, events, limiter, options } = limited();
  const { params, reads, call: calls } = callOf(call, fetchOf(call, provided));
  const controller = new AbortController();
  let read = 0;
  const use = async (): Promise<void> => {
    const answer = await around(options, calls, reads)(params, { signal: controller.signal });
    if (call.reader === 'helper') answer.done().catch(() => undefined);
    const iterator = iteratorOf(answer, call.reader);
    for (;;) {
      // The iterators of SDKs do not notice that they are left before they were begun.
      if (read === Math.max(1, call.stopAfter) && call.end === 'left') return void (await iterator.return?.());
      if (read === call.stopAfter && call.end === 'abandoned') return;
      if (read === call.stopAfter && call.end === 'aborted') controller.abort();
      if ((await iterator.next()).done === true) return;
      read += 1;
    }
  };
  const error: unknown = await use().catch((reason: unknown) => reason);
  // Anthropic's halves of a stream that is split do not notice it either.
  for (let i = 0; i < 14 && (call.end === 'abandoned' || call.reader === 'splits'); i++) await time.pass(10_000);
  await time.pass(0);
  const [{ used } = { used: NaN }] = await limiter.usage([{ limit: 'Tokens', id }]);
  const { remaining } = await limiter.check([{ limit: 'InProgress', id }]);
  await limiter.close();
  return { used, slots: 1 - remaining, provided, error, events, read };
}

const billed = ({ input, cacheRead, cacheWrite, output }: Bill): number => input + cacheRead + cacheWrite + output;

interface Outcome {
  readonly used: number;
  readonly warnings: number;
}

/** What a call may be charged: what has been read of a stream that is cut short is known to its reader alone. */
function outcomesOf(
  { gateway, end, bill, words }: Call,
  { generated, isWhole, isStopped, hasBilled }: Provided,
): Outcome[] {
  const { hasUsage, fails } = GATEWAYS[gateway]!;
  const reported = { used: billed(bill), warnings: 0 };
  if (end === 'refused' || end === 'overloaded') return [{ used: 0, warnings: 0 }];
  const passed = { used: 100 + Math.ceil(words.join('').length / 4), warnings: 0 };
  const whole = hasUsage ? [reported] : words.length > 0 ? [passed] : [];
  if (isWhole && !isStopped && whole.length > 0) return whole;
  const { input, cacheRead, cacheWrite } = bill;
  // Messages, and gateways that count while they answer, report the prompt first.
  const prompts = [100, input + cacheRead + cacheWrite, Math.ceil(input / 2) + cacheRead + cacheWrite];
  const outcomes = prompts.map((prompt) => ({ used: prompt + MOST, warnings: 1 }));
  if (isWhole || (hasUsage && hasBilled)) outcomes.push(...whole);
  if (generated === 0 && (end === 'broken' || (fails === true && !hasUsage))) outcomes.push({ used: 0, warnings: 0 });
  return outcomes;
}

/** Makes a call, and returns it where it was charged wrongly, has kept its slot, or its provider goes on. */
async function wrongly(call: Call): Promise<object | undefined> {
  const result = await made(call);
  const { used, slots, provided, error, events } = result;
  const isBill = outcomesOf(call, provided).some((bill) => bill.used === used && bill.warnings === events.length);
  const hasEnded = provided.isWhole || provided.isStopped || error !== undefined;
  return isBill && hasEnded && slots === 0 && used >= provided.generated ? undefined : { ...call, ...result };
}

const wordsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `word${i % 1000} `.padEnd(8, '.'));
const BILL: Bill = { input: 100, cacheRead: 1000, cacheWrite: 500, output: 20 };

test.each(names)(
  'each reader of a %s is charged its usage, whatever ends it, or the estimate where none came',
  async (gateway) => {
    for (const end of ENDS) {
      for (const reader of READERS) {
        for (const stopAfter of [0, 1, 3]) {
          // A helper reads by itself.
          if (reader === 'helper' && (end === 'abandoned' || end === 'left')) continue;
          expect(await wrongly({ gateway, reader, end, bill: BILL, words: wordsOf(10), stopAfter })).toBeUndefined();
        }
      }
    }
  },
);

test.each(names.filter((name) => GATEWAYS[name]!.hasUsage))(
  'a %s costs what the helper of its SDK has added up',
  async (gateway) => {
    const call: Call = { gateway, reader: 'helper', end: 'whole', bill: BILL, words: wordsOf(10), stopAfter: 0 };
    const provided: Provided = { generated: 0, hasBilled: false, isWhole: false, isStopped: false };
    const { params, call: calls } = callOf(call, fetchOf(call, provided));
    const helper = calls(params, { signal: new AbortController().signal });
    const { usage } = await finalOf(helper, GATEWAYS[gateway]!.sdk);
    const added = usage.total_tokens ?? billed(fromMessages(usage));
    expect((await made(call)).used).toBe(added);
  },
);

async function finalOf(helper: any, sdk: Gateway['sdk']): Promise<any> {
  if (sdk === 'messages') return helper.finalMessage();
  return sdk === 'chat' ? helper.finalChatCompletion() : helper.finalResponse();
}

function fromMessages(usage: Record<string, number | null | undefined>): Bill {
  const [input, cacheRead, cacheWrite, output] = [
    'input_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'output_tokens',
  ].map((name) => usage[name] ?? 0) as [number, number, number, number];
  return { input, cacheRead, cacheWrite, output };
}

test(`random calls of the SDKs through gateways cost what their provider reports, and keep no slot`, async () => {
  let state = 1;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * end);
  };
  const of = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const cells = new Set<string>();
  for (let i = 0; i < CALLS; i++) {
    const reader = of(READERS);
    // The helper of chats fails where an answer has no part.
    const words = wordsOf(below(30) + (reader === 'helper' ? 1 : 0));
    const bill = {
      input: 1 + below(300),
      cacheRead: below(50),
      cacheWrite: below(50),
      output: 1 + 2 * words.length + below(50),
    };
    const call: Call = {
      gateway: of(names),
      reader,
      end: of(ENDS),
      bill,
      words,
      stopAfter: below(words.length + 5),
    };
    if (call.reader === 'helper' && (call.end === 'abandoned' || call.end === 'left')) continue;
    cells.add(`${call.gateway} ${call.reader} ${call.end}`);
    expect(await wrongly(call)).toBeUndefined();
  }
  if (process.env['SLUICE_AI_CALLS'] !== undefined) console.log(`${CALLS} calls in ${cells.size} cells`);
}, 3_600_000);

test('an answer that is not streamed costs its usage, or its estimate with an event, and `asResponse()` is refused', async () => {
  const { events, limiter, options } = limited();
  const answering =
    (body: object): typeof fetch =>
    async () =>
      Response.json(body);
  const used = async () => (await limiter.usage([{ limit: 'Tokens', id }]))[0]!.used;
  const params = { model: 'm', max_tokens: MOST, messages: [{ role: 'user' as const, content: PROMPT }] };
  const chat = (body: object, how: (made: any) => unknown) =>
    around(
      options,
      (given: typeof params) =>
        how(new OpenAI({ apiKey: 'none', fetch: answering(body) }).chat.completions.create(given)),
      usageOf.openai,
    )(params);
  const usage = { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 };
  expect(await chat({ choices: [], usage }, (given) => given.withResponse())).toMatchObject({ data: { usage } });
  expect(await used()).toBe(42);
  expect(events).toEqual([]);
  await chat({ choices: [], usage: {} }, (given) => given);
  expect(await used()).toBe(42 + ESTIMATE);
  expect(events).toHaveLength(1);
  await expect(chat({ choices: [], usage }, (given) => given.asResponse())).rejects.toThrow('call withResponse()');
  expect(await used()).toBe(42 + 2 * ESTIMATE);
  const isReading = (given: any) =>
    given.asResponse().then((response: Response) => response.body?.getReader() && response);
  await expect(chat({ choices: [], usage }, isReading)).rejects.toThrow('call withResponse()');
  expect(await used()).toBe(42 + 3 * ESTIMATE);
  expect(await limiter.check([{ limit: 'InProgress', id }])).toMatchObject({ remaining: 1 });
});

test('a stream that its reader can not read keeps its estimate, with an event', async () => {
  async function* ollama() {
    for (let i = 0; i < 10; i++) yield { message: { role: 'assistant', content: `word${i}` }, done: false };
    yield { done: true, prompt_eval_count: 11, eval_count: 22 };
  }
  async function* gemini() {
    for (let i = 0; i < 10; i++)
      yield { candidates: [{ content: { parts: [{ text: `word${i}` }] } }], usageMetadata: {} };
  }
  for (const answer of [ollama, gemini, () => ReadableStream.from(ollama())]) {
    const { events, limiter, options } = limited();
    const stream = await around(
      { ...options, maxOutput: MOST },
      answer as () => AsyncIterable<unknown>,
      usageOf.openai,
    )({
      messages: [{ role: 'user', content: PROMPT }],
    });
    let parts = 0;
    for await (const _ of stream) parts += 1;
    expect(parts).toBeGreaterThan(9);
    expect(events).toHaveLength(1);
    expect(await limiter.usage([{ limit: 'Tokens', id }])).toMatchObject([{ used: ESTIMATE }]);
  }
});
