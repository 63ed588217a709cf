// Makes calls of a model, some at a time, with a budget on Redis, and reports each that has been settled.
import { around, usageOf } from '@sluice/ai';
import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { redisStore } from '@sluice/redis';
import OpenAI from 'openai';

/**
 * The only argument of the process, as JSON.
 *
 * @typedef {{ redisUrl: string, providerUrl: string, name: string, calls: number, atOnce: number, maxTokens: number,
 *   expiry: string }} AskOrders
 */

/** @typedef {{ finished: true } | { error: string }} AskReport */

/** @type {AskOrders} */
const orders = JSON.parse(process.argv[2] ?? '');
const store = redisStore({ url: orders.redisUrl, log: false });
const limiter = createLimiter({
  limits: {
    InProgress: concurrency({ key: everyone(), concurrency: 100, expiry: orders.expiry }),
    Tokens: quota({ key: everyone(), count: 1_000_000, per: 'month' }),
  },
  store,
  // On a busy machine a process may have to wait for its turn.
  failure: { onFailure: 'closed', deadlineMs: 10_000 },
  log: false,
});
const openai = new OpenAI({ baseURL: orders.providerUrl, apiKey: orders.name, maxRetries: 0 });
const ask = around(
  { limiter, limits: { InProgress: 1, Tokens: 'tokens' }, id: 'everyone' },
  (/** @type {OpenAI.ChatCompletionCreateParamsNonStreaming} */ params) => openai.chat.completions.create(params),
  usageOf.openai,
);

let left = orders.calls;

async function work() {
  while (left-- > 0) {
    const messages = [{ role: /** @type {const} */ ('user'), content: 'x'.repeat(40) }];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await ask({ model: 'any', messages, max_tokens: orders.maxTokens });
    process.send?.({ finished: true });
  }
}

process.on('disconnect', () => process.exit());
try {
  await limiter.ready({ timeoutMs: 30_000 });
  await Promise.all(Array.from({ length: orders.atOnce }, work));
} catch (error) {
  process.send?.({ error: String(error) });
}
