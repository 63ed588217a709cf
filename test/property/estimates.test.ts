import { around, budget, usageOf, type CallParams } from '@sluice/ai';
import { accountId, createLimiter } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonSize, MAX_ANSWER, PLAIN_REQUESTS, SDK_REQUESTS, type ModelRequest } from './model-requests.ts';

const TOKENS_OF_FILE = 1000;
const id = '12345678';
const limiter = createLimiter({ limits: { Tokens: quota({ key: accountId(), count: 1e12, per: 'year' }) } });
const options = { limiter, limits: { Tokens: 'tokens' }, id, maxOutput: MAX_ANSWER } as const;

async function used(): Promise<number> {
  const [tokens] = await limiter.usage([{ limit: 'Tokens', id }]);
  return tokens!.used;
}

/** What calls take before the provider is asked. */
async function estimateOf(call: (ask: () => Promise<never>) => Promise<unknown>): Promise<number> {
  const before = await used();
  let after = before;
  await call(async () => {
    after = await used();
    return {} as never;
  });
  return after - before;
}

/** By how much an estimate is below the least that a provider counts, or above the most that we say. */
function faultOf(estimate: number, { value, text, ids, files, opaque, answers }: ModelRequest): number {
  const output = answers * MAX_ANSWER;
  const least = Math.ceil(text / 4) + ids + files * TOKENS_OF_FILE + output;
  const most = Math.ceil(jsonSize(value) / 4) + ids + (files + opaque) * TOKENS_OF_FILE + output;
  return Math.max(0, least - estimate, estimate - most);
}

test.each(Object.entries(PLAIN_REQUESTS))(
  'the estimate of a request is at least its text, its files and its answers, and at most its JSON, with its files: %s',
  async (_, requests) => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const params = request.value as object;
        const estimate = await estimateOf((ask) => around(options, ask, usageOf.openai)(params));
        expect(faultOf(estimate, request)).toBe(0);
      }),
    );
  },
);

test('the estimate of a call of the AI SDK is at least its text and its files, and at most its JSON, with its files', async () => {
  const model = { specificationVersion: 'v3' };
  await fc.assert(
    fc.asyncProperty(SDK_REQUESTS, async (request) => {
      const params = request.value as CallParams;
      const estimate = await estimateOf((doGenerate) => budget(options).wrapGenerate({ doGenerate, params, model }));
      expect(faultOf(estimate, request)).toBe(0);
    }),
  );
});
