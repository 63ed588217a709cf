// A process that is killed amid calls of a model: what its budget on Redis keeps of them.
import { createLimiter, everyone } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { realDelay } from '../real-delay.ts';
import type { AskOrders, AskReport } from './processes/ask-model.mjs';
import { run } from './processes/run.ts';
import { redisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';
import { heldIn } from './slots/redis-slots.ts';

const NAMES = ['killed', 'second', 'third'] as const;
/** 100 together. */
const CALLS = { killed: 34, second: 33, third: 33 };
const AT_ONCE = 4;
/** Of each process, the provider answers so many at first, and holds the others. */
const ANSWERED = 9;
const PROMPT_TOKENS = 10;
const MAX_TOKENS = 100;
const EXPIRY_SECONDS = 2;

type Name = (typeof NAMES)[number];

/** A provider of the interface of OpenAI, which knows what it has answered each process. */
async function startProvider() {
  const seen = new Map<Name, { answered: number; tokens: number; held: ServerResponse[] }>();
  for (const name of NAMES) seen.set(name, { answered: 0, tokens: 0, held: [] });
  let holds = true;
  const answer = (name: Name, response: ServerResponse): void => {
    const to = seen.get(name)!;
    const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: 1 + ((7 * to.answered) % MAX_TOKENS) };
    to.answered += 1;
    to.tokens += usage.prompt_tokens + usage.completion_tokens;
    const choices = [{ index: 0, message: { role: 'assistant', content: 'answer' }, finish_reason: 'stop' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'chat.completion', choices, usage }));
  };
  const server = createServer((request, response) => {
    const name = request.headers.authorization!.replace('Bearer ', '') as Name;
    const { answered, held } = seen.get(name)!;
    if (holds && answered >= ANSWERED) held.push(response);
    else answer(name, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  running.add({
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    of: (name: Name) => seen.get(name)!,
    /** Answers all that it holds, but to one process, and from then on every call. */
    release(except: Name): void {
      holds = false;
      for (const [name, { held }] of seen) if (name !== except) for (const each of held) answer(name, each);
    },
  };
}

it('a process killed amid calls leaves their estimates, its slots expire, and others go on', async () => {
  const redis = await redisServer();
  const provider = await startProvider();
  const store = redisStore({ url: redis.url, log: false });
  running.add({ close: () => store.close() });
  await until('it is connected', () => store.status().state === 'up');
  const limiter = createLimiter({
    limits: { Tokens: { key: everyone(), count: 1_000_000, per: 'month' } },
    store,
    failure: { onFailure: 'closed', deadlineMs: 10_000 },
  });
  const charged = async () => (await limiter.usage([{ limit: 'Tokens', id: 'everyone' }]))[0]!.used;
  const usageOf = (...names: Name[]) => names.reduce((sum, name) => sum + provider.of(name).tokens, 0);

  const finished = { killed: 0, second: 0, third: 0 };
  const errors: string[] = [];
  const start = (name: Name) => {
    const orders: AskOrders = {
      redisUrl: redis.url,
      providerUrl: provider.url,
      name,
      calls: CALLS[name],
      atOnce: AT_ONCE,
      maxTokens: MAX_TOKENS,
      expiry: `${EXPIRY_SECONDS}s`,
    };
    return run('ask-model.mjs', [JSON.stringify(orders)]).on('message', (report: AskReport) => {
      if ('finished' in report) finished[name] += 1;
      else errors.push(report.error);
    });
  };
  const [killed, ...others] = NAMES.map(start);
  await until('all processes have calls in progress, and no others that are not settled', () => {
    expect(errors).toEqual([]);
    return NAMES.every((name) => finished[name] === ANSWERED && provider.of(name).held.length === AT_ONCE);
  });
  const estimate = AT_ONCE * (PROMPT_TOKENS + MAX_TOKENS);
  expect(await charged()).toBe(usageOf(...NAMES) + NAMES.length * estimate);

  const exit = once(killed!, 'exit');
  killed!.kill('SIGKILL');
  await exit;
  await until('its slots have expired', async () => (await heldIn([redis])) <= others.length * AT_ONCE);
  // The slots of the others are renewed for as long as their calls take.
  await realDelay(1500 * EXPIRY_SECONDS);
  expect(await heldIn([redis])).toBe(others.length * AT_ONCE);

  provider.release('killed');
  await until('the others have made all their calls', () => {
    expect(errors).toEqual([]);
    return finished.second === CALLS.second && finished.third === CALLS.third;
  });
  expect(finished.killed).toBe(ANSWERED);
  expect(await heldIn([redis])).toBe(0);
  expect(await charged()).toBe(usageOf(...NAMES) + estimate);
  for (const other of others) other.disconnect();
});
