import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** @import { IncomingMessage, ServerResponse } from 'node:http' */
/** @import OpenAI from 'openai' */

/** How long its model takes for a token. */
const TOKEN_MS = Number(process.env.TOKEN_MS ?? 20);

/**
 * Starts a provider with the interface of OpenAI, whose model counts: "Count to 20" has twenty tokens of answer. It prints
 * how many it has sent for each call.
 *
 * @returns {Promise<import('node:http').Server>}
 */
export async function startProvider() {
  const server = createServer((request, response) => {
    answer(request, response).catch((/** @type {Error} */ error) => response.destroy(error));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function answer(/** @type {IncomingMessage} */ request, /** @type {ServerResponse} */ response) {
  const params = /** @type {OpenAI.ChatCompletionCreateParams} */ (await json(request));
  const prompt = params.messages.map(({ content }) => (typeof content === 'string' ? content : '')).join('\n');
  const length = Math.min(Number(/\d+/.exec(prompt)?.[0] ?? 10), params.max_completion_tokens ?? Infinity);
  const model = { id: 'chatcmpl-1', model: params.model, created: Math.floor(Date.now() / 1000) };
  const send = (/** @type {object} */ part) =>
    response.write(`data: ${JSON.stringify({ ...model, object: 'chat.completion.chunk', ...part })}\n\n`);

  if (params.stream) response.writeHead(200, { 'content-type': 'text/event-stream' });
  let content = '';
  let sent = 0;
  for (; sent < length && !response.destroyed; sent++) {
    // oxlint-disable-next-line no-await-in-loop -- a token after the other
    await delay(TOKEN_MS);
    const word = `${sent + 1} `;
    content += word;
    if (params.stream) send({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] });
  }
  console.log(`Provider: ${sent} of ${length} tokens${response.destroyed ? ', the gateway has left' : ''}`);

  const usage = {
    prompt_tokens: Math.ceil(prompt.length / 4),
    completion_tokens: sent,
    total_tokens: Math.ceil(prompt.length / 4) + sent,
  };
  if (params.stream) {
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    if (params.stream_options?.include_usage) send({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  } else {
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...model, object: 'chat.completion', choices, usage }));
  }
}
