import { once } from 'node:events';
import { request } from 'node:http';
import express, { type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { until } from '../../redis/servers/until.ts';
import { chat, limiter, limitTokens } from '../code/recipes/llm-tokens.ts';
import { serve } from '../serve.ts';

const authenticate: RequestHandler = (req, _res, next) => {
  Object.assign(req, { account: req.get('Account') });
  next();
};

it('LLM token budget: an answer costs its tokens, and while it lasts the most that it can cost', async () => {
  const { ask } = await chatServer(300);
  const answer = await ask('finished', 300);
  expect((await answer.text()).length).toBe(300);
  await until('the rest was given back', () => takenBy('finished') < 2000);
  expect(takenBy('finished')).toBeGreaterThan(200);
  expect(takenBy('finished')).toBeLessThanOrEqual(300);
});

it('LLM token budget: an answer that is aborted after 100 of 20,000 estimated tokens costs 100', async () => {
  const { url } = await chatServer(100, 'endless');
  const asking = request(`${url}/chat`, { method: 'POST', headers: { Account: 'aborted' } }).end();
  const [answer] = await once(asking, 'response');
  let tokens = 0;
  answer.on('data', (chunk: Buffer) => (tokens += chunk.length)).on('error', () => {});
  await until('100 tokens have come', () => tokens === 100);
  expect(takenBy('aborted')).toBeGreaterThan(19_000);
  asking.destroy();
  await until('the rest was given back', () => takenBy('aborted') < 2000);
  expect(takenBy('aborted')).toBeGreaterThan(0);
  expect(takenBy('aborted')).toBeLessThanOrEqual(100);
});

it('LLM token budget: the requested tokens are taken, at most the maximum', async () => {
  const { ask } = await chatServer(1, 'endless');
  await ask('modest', 500);
  expect(takenBy('modest')).toBeGreaterThan(300);
  expect(takenBy('modest')).toBeLessThanOrEqual(500);
  await ask('greedy', 1e9);
  await ask('odd', -1);
  expect([takenBy('greedy') > 19_000, takenBy('odd') > 19_000]).toEqual([true, true]);
});

async function chatServer(tokens: number, end?: 'endless') {
  async function* model(_prompt: unknown, signal: AbortSignal): AsyncGenerator<string> {
    for (let i = 0; i < tokens; i++) yield 'x';
    if (end === 'endless') await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
  const url = await serve(express().post('/chat', authenticate, express.json(), limitTokens, chat(model)));
  const ask = (account: string, max_tokens: number) =>
    fetch(`${url}/chat`, {
      method: 'POST',
      body: JSON.stringify({ max_tokens }),
      headers: { Account: account, 'Content-Type': 'application/json' },
    });
  return { url, ask };
}

function takenBy(account: string): number {
  return 100_000 - limiter.checkSync([{ limit: 'TokensPerAccount', id: account, cost: 0 }]).remaining;
}
