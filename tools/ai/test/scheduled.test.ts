import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import type OpenAI from 'openai';
import { beforeEach, describe, expect, test } from 'vitest';
import { around, budget, usageOf as usageOfSdk, type BudgetOptions } from '../src/index.ts';
import { finishPart, ScriptedModel, textParts, usageOf } from './scripted-model.ts';
import { answering, chat, chatUsage, startedSdks } from './sdks.ts';

const key = everyone();
const id = 'everyone';
const LIMITS = {
  Requests: { key, burst: 1, count: 10, period: '1s' },
  Tokens: { key, burst: 1000, count: 10_000, period: '1s' },
  InProgress: concurrency({ key, concurrency: 2 }),
} as const;
type Name = keyof typeof LIMITS;

let time: FakeTime;
let limiter: ReturnType<typeof limiterOf>;
let scheduler: ReturnType<typeof createScheduler<Name>>;
/** When each call reached the model, and its prompt. */
let starts: [prompt: string, atMs: number][];

function limiterOf() {
  return createLimiter({ limits: LIMITS, time, log: false });
}

beforeEach(() => {
  time = new FakeTime();
  limiter = limiterOf();
  scheduler = createScheduler(limiter);
  starts = [];
});

type Options = Partial<BudgetOptions<Name>>;

/** A model whose calls last, and use 100 tokens. */
function modelOf(options: Options, lastsMs = 0) {
  const model = new MockLanguageModelV3({
    async doGenerate({ prompt }) {
      const { content } = prompt.at(-1)!;
      starts.push([(content as { text: string }[])[0]!.text, time.nowMs]);
      if (lastsMs > 0) await new Promise<void>((end) => void time.alarm(lastsMs, end));
      return {
        content: [{ type: 'text', text: 'ok' }],
        usage: usageOf(60, 40),
        finishReason: { unified: 'stop', raw: undefined },
        warnings: [],
      };
    },
  });
  return wrapLanguageModel({ model, middleware: budget({ scheduler, limits: { Requests: 1 }, ...options }) });
}

/** Waits until calls have gone through the AI SDK, which takes turns of the event loop, and have begun or wait. */
async function arrived(calls: number): Promise<void> {
  while (starts.length + scheduler.size < calls) await new Promise((next) => void setImmediate(next));
}

/** Promises whose errors a test does not look at. */
const quiet = (...calls: Promise<unknown>[]) => calls.forEach((call) => call.catch(() => undefined));

describe('calls of the AI SDK with a scheduler', () => {
  test('wait for their turns, and none is denied', async () => {
    const model = modelOf({});
    const calls = Promise.all(Array.from({ length: 10 }, (_, i) => generateText({ model, prompt: `${i}` })));
    await arrived(10);
    await time.pass(1000);
    await calls;
    expect(starts).toEqual(Array.from({ length: 10 }, (_, i) => [`${i}`, i * 100]));
  });

  test('that are estimated at ten times what they use have more than half of the limit', async () => {
    const estimate = () => ({ input: 500, output: 500 });
    const model = modelOf({ limits: { Tokens: 'tokens' }, estimate, within: '1m' }, 5);
    quiet(...Array.from({ length: 300 }, (_, i) => generateText({ model, prompt: `${i}` })));
    await arrived(300);
    await time.pass(1000);
    // By the estimates alone, 11 calls begin in a second.
    expect(starts.length * 100).toBeGreaterThan(5000);
    expect(starts.length * 100).toBeLessThanOrEqual(11_000);
  });

  test('wait when a 429 is learnt while they are in the queue', async () => {
    const model = modelOf({});
    quiet(...Array.from({ length: 17 }, (_, i) => generateText({ model, prompt: `${i}` })));
    await arrived(17);
    await time.pass(10);
    await limiter.restrict([{ limit: 'Requests', id, forMs: 2000 }]);
    await time.pass(1990);
    expect(starts.length).toBeLessThanOrEqual(2);
    await time.pass(3000);
    expect(starts).toHaveLength(17);
  });

  test('begin by their priority, then by what each key has had', async () => {
    const given = (name: string) => (params: { readonly providerOptions?: unknown }) =>
      (params.providerOptions as { app: Record<string, never> } | undefined)?.app[name];
    const model = modelOf({ priority: given('priority'), fair: given('tenant') });
    const ask = (prompt: string, app: Record<string, string | number>) =>
      quiet(generateText({ model, prompt, providerOptions: { app } }));
    for (const tenant of ['first', 'a', 'a', 'a', 'b']) ask(tenant, { tenant });
    await arrived(5);
    ask('urgent', { tenant: 'a', priority: 5 });
    await arrived(6);
    await time.pass(1000);
    expect(starts.map(([prompt]) => prompt)).toEqual(['first', 'urgent', 'a', 'b', 'a', 'a']);
  });

  test('are errors when their time is over, which the AI SDK does not retry, and leave when they are aborted', async () => {
    const model = modelOf({ within: '250ms' });
    const calls = Array.from({ length: 5 }, (_, i) => generateText({ model, prompt: `${i}` }));
    quiet(...calls);
    const controller = new AbortController();
    const left = generateText({ model: modelOf({}), prompt: 'left', abortSignal: controller.signal });
    quiet(left);
    await arrived(6);
    controller.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await time.pass(2000);
    await expect(calls[4]).rejects.toMatchObject({ code: 'ERR_NOT_BEGUN', reason: 'within' });
    expect(starts.map(([prompt]) => prompt)).toEqual(['0', '1', '2']);
    expect([scheduler.size, scheduler.running]).toEqual([0, 0]);
  });

  test('hold their slots until their streams end, and then the next ones begin', async () => {
    const scripted = new ScriptedModel([{ parts: [...textParts('hello'), finishPart(usageOf(11, 7))], end: 'closes' }]);
    const model = wrapLanguageModel({ model: scripted, middleware: budget({ scheduler, limits: { InProgress: 1 } }) });
    const streams = await Promise.all([0, 1].map(() => model.doStream({ prompt: [] })));
    const third = streamText({ model, prompt: 'third' });
    const text = Promise.resolve(third.text);
    await arrived(1);
    await time.pass(1000);
    expect([scripted.delivered.length, scheduler.size, scheduler.running]).toEqual([2, 1, 2]);
    for await (const _ of streams[0]!.stream);
    expect(await text).toBe('hello');
    await streams[1]!.stream.cancel();
    await scheduler.idle();
    expect((await limiter.check([{ limit: 'InProgress', id }])).remaining).toBe(2);
  });

  test('that the provider refuses give on what they held', async () => {
    const scripted = new ScriptedModel([{ parts: [], end: 'closes', refused: 400 }]);
    const limits = { InProgress: 1, Tokens: 'tokens' } as const;
    const middleware = budget({ scheduler, limits, maxOutput: 900 });
    const model = wrapLanguageModel({ model: scripted, middleware });
    const calls = Promise.allSettled(Array.from({ length: 8 }, () => generateText({ model, prompt: 'hello' })));
    await time.pass(10);
    expect((await calls).map((call) => (call as PromiseRejectedResult).reason.statusCode)).toEqual(Array(8).fill(400));
  });

  test('are errors at once when their estimates never fit', async () => {
    const call = generateText({ model: modelOf({ limits: { Tokens: 'tokens' }, maxOutput: 5000 }), prompt: 'hello' });
    await expect(call).rejects.toThrow('A call is estimated at 2 input and 5000 output tokens: ');
  });
});

describe('calls around an SDK with a scheduler', () => {
  const sdks = startedSdks();

  const chatting = (options: object) =>
    around(
      { scheduler, limits: { InProgress: 1, Tokens: 'tokens' }, ...options },
      (params: OpenAI.ChatCompletionCreateParamsNonStreaming) => sdks.openai.chat.completions.create(params),
      usageOfSdk.openai,
    );

  test('wait for slots, and are settled by their usage', async () => {
    let most = 0;
    let open = 0;
    sdks.handler = (request, response) => {
      most = Math.max(most, ++open);
      setImmediate(() => {
        open--;
        answering({ choices: [], usage: chatUsage })(request, response);
      });
    };
    const ask = chatting({});
    await Promise.all(Array.from({ length: 6 }, () => ask(chat)));
    expect([sdks.asked, most]).toEqual([6, 2]);
    const { results } = await limiter.check([{ limit: 'Tokens', id, cost: 0 }]);
    expect(results[0]).toMatchObject({ remaining: 1000 - 6 * chatUsage.total_tokens });
  });

  test('inside of a call that holds a slot of the same limit are errors, and not waits for each other', async () => {
    const inner = chatting({});
    const outer = around({ scheduler, limits: { InProgress: 1 } }, () => inner(chat), usageOfSdk.openai);
    await expect(outer({})).rejects.toMatchObject({ code: 'ERR_NESTED' });
    expect([sdks.asked, scheduler.running]).toEqual([0, 0]);
  });
});

test('exactly one of limiter and scheduler is given, and each has options of its own', () => {
  const limits = { Requests: 1 } as const;
  const wrong: [object, string][] = [
    [
      { limits },
      '`budget.limiter` must be a limiter, but was undefined. Make one with createLimiter, or give a `scheduler`',
    ],
    [{ limits, limiter, scheduler }, '`budget.limiter` must be left out beside `scheduler`'],
    [{ limits, scheduler: limiter }, '`budget.scheduler` must be a scheduler'],
    [{ limits, scheduler: null }, '`budget.scheduler` must be a scheduler, but was null'],
    [{ limits, scheduler, wait: true }, '`budget.wait` must be left out beside `scheduler`'],
    [{ limits, scheduler, retry: false }, '`budget.retry` must be left out beside `scheduler`'],
    [{ limits, limiter, priority: 1 }, '`budget.priority` must be left out where no `scheduler` is given'],
    [{ limits, limiter, within: '1s' }, '`budget.within` must be left out where no `scheduler` is given'],
    [{ limits, scheduler, priority: 11 }, '`budget.priority` must be a whole number from -10 to 10'],
    [{ limits, scheduler, fair: 7 }, '`budget.fair` must be a text or a function'],
    [
      { limits, scheduler, within: '0ms' },
      "`budget.within` must be a duration of whole microseconds from '1ms' to '7d'",
    ],
    [{ limits: { Request: 1 }, scheduler }, 'Request'],
  ];
  for (const [options, message] of wrong) expect(() => budget(options as BudgetOptions)).toThrow(message);
  // @ts-expect-error -- a limit that the limiter of the scheduler does not have
  expect(() => budget({ scheduler, limits: { Request: 1 } })).toThrow('Request');
});
