// A process that is killed amid calls of a model: what its budget on Redis keeps of them.
import { createLimiter, everyone } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { redisStore } from '@sluice/redis';
import { EventEmitter, once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { realDelay } from '../real-delay.ts';
import { randomFrom } from '../service/random.ts';
import { sized } from '../sized.ts';
import type { AskOrders, AskReport } from './processes/ask-model.mjs';
import { run } from './processes/run.ts';
import { redisServer, type RedisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';
import { heldIn } from './slots/redis-slots.ts';

const NAMES = ['killed', 'second', 'third'] as const;
/** 100 together. */
const CALLS = { killed: 34, second: 33, third: 33 };
const AT_ONCE = 4;
/** The provider answers so many calls of each process at first, and keeps the others waiting, if it does so at all. */
const ANSWERED = 9;
const PROMPT_TOKENS = 10;
const MAX_TOKENS = 100;
/** What is taken for a process with all its calls in progress. */
const ESTIMATE = AT_ONCE * (PROMPT_TOKENS + MAX_TOKENS);
const EXPIRY_SECONDS = 2;
const KILLS = sized(3, 5);

type Name = (typeof NAMES)[number];

/** A provider of the interface of OpenAI, which knows what it has answered each process. */
async function startProvider({ holds }: { holds: boolean }) {
  const seen = new Map<Name, { answered: number; tokens: number; held: ServerResponse[] }>();
  for (const name of NAMES) seen.set(name, { answered: 0, tokens: 0, held: [] });
  const asked = new EventEmitter<Record<Name, []>>();
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
    asked.emit(name);
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
    usageOf: (...names: readonly Name[]) => names.reduce((sum, name) => sum + seen.get(name)!.tokens, 0),
    /** Resolves when a process has asked so many times more. */
    asked: (name: Name, times: number) =>
      new Promise<void>((resolve) => {
        let left = times;
        asked.on(name, () => {
          left -= 1;
          if (left === 0) resolve();
        });
      }),
    /** Answers all that it holds, but to one process, and from then on every call. */
    release(except: Name): void {
      holds = false;
      for (const [name, { held }] of seen) if (name !== except) for (const each of held) answer(name, each);
    },
  };
}

/** Processes that make calls of a provider, with a budget on a Redis. */
async function callers(redis: RedisServer, providerUrl: string) {
  const store = redisStore({ url: redis.url, log: false });
  running.add({ close: () => store.close() });
  await until('it is connected', () => store.status().state === 'up');
  const limiter = createLimiter({
    limits: { Tokens: quota({ key: everyone(), count: 1_000_000, per: 'month' }) },
    store,
    failure: { onFailure: 'closed', deadlineMs: 10_000 },
  });
  const finished = { killed: 0, second: 0, third: 0 };
  const errors: string[] = [];
  return {
    finished,
    errors,
    charged: async () => (await limiter.usage([{ limit: 'Tokens', id: 'everyone' }]))[0]!.used,
    start(this: void, name: Name) {
      const orders: AskOrders = {
        redisUrl: redis.url,
        providerUrl,
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
    },
  };
}

async function killedNow(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

it('a process killed amid calls leaves their estimates, its slots expire, and others go on', async () => {
  const redis = await redisServer();
  const provider = await startProvider({ holds: true });
  const { finished, errors, charged, start } = await callers(redis, provider.url);
  const [killed, ...others] = NAMES.map(start);
  await until('all processes have calls in progress, and no others that are not settled', () => {
    expect(errors).toEqual([]);
    return NAMES.every((name) => finished[name] === ANSWERED && provider.of(name).held.length === AT_ONCE);
  });
  expect(await charged()).toBe(provider.usageOf(...NAMES) + NAMES.length * ESTIMATE);

  await killedNow(killed!);
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
  expect(await charged()).toBe(provider.usageOf(...NAMES) + ESTIMATE);
  for (const other of others) other.disconnect();
});

it('a process killed at any moment leaves no more than the estimates of its calls in progress, and others go on', async () => {
  const redis = await redisServer();
  const provider = await startProvider({ holds: false });
  const { finished, errors, charged, start } = await callers(redis, provider.url);
  const seed = Date.now();
  const random = randomFrom(seed);

  const other = start('second');
  for (let kills = 0; kills < KILLS; kills++) {
    const killed = start('killed');
    // A call is decided, made or settled then, and each of them may be in Redis already or not.
    await provider.asked('killed', 1 + random.below(CALLS.killed - 1));
    for (let turns = random.below(20); turns > 0; turns--) await turn();
    await killedNow(killed);
  }
  await until('the other has made all its calls', () => finished.second === CALLS.second);
  await until('the slots have expired', async () => (await heldIn([redis])) === 0);
  other.disconnect();

  expect(errors).toEqual([]);
  // What a call has taken and what has settled it is never less than its usage.
  const leastCharged = provider.usageOf('killed', 'second');
  const leftOver = (await charged()) - leastCharged;
  expect(leftOver, `seed ${seed}`).toBeGreaterThanOrEqual(0);
  expect(leftOver, `seed ${seed}`).toBeLessThanOrEqual(KILLS * ESTIMATE);
});
