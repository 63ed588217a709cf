/** @import { NextFunction, Request, Response } from 'express' */
/** @import { ChatCompletionChunk, ChatCompletionCreateParams } from 'openai/resources' */
import { around, BudgetExceededError, usageOf } from '@sluice/ai';
import { SluiceError } from '@sluice/core';
import express from 'express';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';
import OpenAI from 'openai';
import { costs, limiter, MAX_OUTPUT, userOf } from './limits.js';
import { startProvider } from './provider.js';

// A provider of your own: `new OpenAI()` reads OPENAI_API_KEY.
const provider = await startProvider();
const openai = new OpenAI({ baseURL: `http://127.0.0.1:${portOf(provider)}`, apiKey: 'none' });

// Decided together before a call, by an estimate, and settled when it has ended.
const complete = around(
  { limiter, limits: costs, id: (_params, { user }) => user },
  (/** @type {ChatCompletionCreateParams} */ params, /** @type {{ user: string, signal: AbortSignal }} */ { signal }) =>
    openai.chat.completions.create(params, { signal }),
  usageOf.openai,
);

const app = express();
app.use(requireUser);

app.post('/v1/chat/completions', express.json(), async (req, res) => {
  // When the client disconnects, the call of the provider is aborted, and its slot is released.
  const left = new AbortController();
  res.once('close', () => left.abort());
  const answer = await complete(paramsOf(req.body), { user: res.locals.user, signal: left.signal });
  if (Symbol.asyncIterator in answer) await pipeline(eventsOf(answer), res.type('text/event-stream'));
  else res.json(answer);
});

// For a billing page. This route takes no tokens and has no limit.
app.get('/usage', async (_req, res) => {
  const id = res.locals.user;
  const [month] = await limiter.usage([{ limit: 'Month', id }]);
  const { remaining } = await limiter.check([{ limit: 'InProgress', id }]);
  res.json({ month: { used: month?.used, of: month?.count, until: month?.end }, slotsLeft: remaining });
});

app.use(answerError);

/** Answers requests without a known key. */
function requireUser(/** @type {Request} */ req, /** @type {Response} */ res, /** @type {NextFunction} */ next) {
  res.locals.user = userOf(req.get('authorization'));
  if (res.locals.user === undefined) sendError(res, 401, 'an API key is needed');
  else next();
}

/**
 * What the provider is asked. Other parameters, such as the model or the number of answers, would change the price.
 *
 * @returns {ChatCompletionCreateParams}
 */
function paramsOf(/** @type {any} */ { messages, max_completion_tokens: most = MAX_OUTPUT, stream = false } = {}) {
  if (!Array.isArray(messages) || !(most > 0)) throw Object.assign(new Error('messages are needed'), { status: 400 });
  const params = { model: 'counter', messages, max_completion_tokens: Math.ceil(Math.min(most, MAX_OUTPUT)) };
  // The usage comes with the last part, if it is asked for.
  return stream ? { ...params, stream: true, stream_options: { include_usage: true } } : params;
}

async function* eventsOf(/** @type {AsyncIterable<ChatCompletionChunk>} */ chunks) {
  for await (const chunk of chunks) yield `data: ${JSON.stringify(chunk)}\n\n`;
  yield 'data: [DONE]\n\n';
}

/** Errors as clients of OpenAI read them: they wait for `Retry-After`, and try again. */
function answerError(
  /** @type {Error & { status?: number }} */ error,
  /** @type {Request} */ _req,
  /** @type {Response} */ res,
  /** @type {NextFunction} */ _next,
) {
  // The client has left, or its answer has broken off.
  if (res.destroyed) return;
  if (error instanceof BudgetExceededError) {
    res.set('Retry-After', String(Math.ceil(error.retryAfterMs / 1000)));
    sendError(res, error.statusCode, error.message);
  } else if (error instanceof SluiceError && error.code === 'ERR_COST_OVER_BURST') {
    sendError(res, 400, 'the call is larger than a limit');
  } else if (error instanceof OpenAI.APIError) {
    sendError(res, 502, 'the provider has failed');
  } else {
    sendError(res, error.status ?? 500, error.status === undefined ? 'an error of the gateway' : error.message);
  }
}

function sendError(/** @type {Response} */ res, /** @type {number} */ status, /** @type {string} */ message) {
  res.status(status).json({ error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'error' } });
}

function portOf(/** @type {import('node:http').Server} */ server) {
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port;
}

const server = createServer(app);
server.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(
    error.code === 'EADDRINUSE' ? `${error.message}. Choose another port: PORT=3001 node server.js` : error.message,
  );
  process.exitCode = 1;
  provider.close();
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${portOf(server)}`;
  const chat = `curl -N ${url}/v1/chat/completions -H 'Content-Type: application/json' -H 'Authorization: Bearer`;
  const countTo = (/** @type {number} */ count) =>
    `-d '{ "stream": true, "messages": [{ "role": "user", "content": "Count to ${count}" }] }'`;
  console.log(`Listening on ${url}

A stream:
  ${chat} team-key' ${countTo(20)}
One that you leave after a second: the provider stops, and its estimate stays charged:
  ${chat} team-key' ${countTo(400)} -m 1
What they have cost, in micro-dollars:
  curl ${url}/usage -H 'Authorization: Bearer team-key'
A small budget, which does not allow a third call this month:
  ${chat} trial-key' ${countTo(100)}
`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // It calls back when all streams have ended.
    server.close(() => {
      void limiter.close({ store: true });
      provider.close();
    });
  });
}
