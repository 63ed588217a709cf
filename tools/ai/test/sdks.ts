import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { accountId, createLimiter, type LimiterEvent } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach } from 'vitest';

const key = accountId();
export const id = '12345678';
/** 40 characters: 10 tokens. */
export const messages = [{ role: 'user' as const, content: 'x'.repeat(40) }];
export const chat = { model: 'm', messages, max_tokens: 20 };
const weights = { input: 100_000, cacheRead: 10_000, cacheWrite: 1000, output: 10, reasoning: 1 };

export const chatUsage = {
  prompt_tokens: 9,
  completion_tokens: 7,
  total_tokens: 16,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
/** 5 tokens of the prompt not cached, 4 cached, 5 said, 2 thought. */
export const chatCost = { tokens: 16, money: 500_000 + 40_000 + 50 + 2, slots: 0 };

export const responseUsage = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 16,
};

export const messageStart = {
  type: 'message_start',
  message: {
    usage: { input_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 },
  },
};
export const inputMoney = 300_000 + 40_000 + 2000;
export const textDelta = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The SDKs of OpenAI and Anthropic, each call of which reaches a server of this process, and a limiter for their calls. */
class Sdks {
  openai!: OpenAI;
  anthropic!: Anthropic;
  /** What the server does with the next request. */
  handler!: Handler;
  /** How many requests the server has received. */
  asked!: number;
  time!: FakeTime;
  events!: LimiterEvent[];
  options!: ReturnType<Sdks['newOptions']>;

  readonly #server = createServer((request, response) => {
    this.asked += 1;
    this.handler(request, response);
  });

  async start(): Promise<void> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    const baseURL = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    this.openai = new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 });
    this.anthropic = new Anthropic({ apiKey: 'none', baseURL, maxRetries: 0 });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Begins again with a limiter of which nothing is taken. */
  renew(): void {
    this.time = new FakeTime();
    this.events = [];
    this.asked = 0;
    this.options = this.newOptions();
  }

  newOptions() {
    const { time, events } = this;
    const limiter = createLimiter({
      limits: {
        Tokens: quota({ key, count: 1000, per: 'day' }),
        InProgress: concurrency({ key, concurrency: 2 }),
        Month: quota({ key, count: 1_000_000_000, per: 'month' }),
      },
      log: false,
      time,
      onEvent: (event) => events.push(event),
    });
    return { limiter, id, limits: { Tokens: 'tokens' as const, InProgress: 1, Month: weights } };
  }

  get limiter(): Sdks['options']['limiter'] {
    return this.options.limiter;
  }

  readonly taken = async () => {
    const used = await this.limiter.usage([
      { limit: 'Tokens', id },
      { limit: 'Month', id },
    ]);
    const { remaining } = await this.limiter.check([{ limit: 'InProgress', id }]);
    return { tokens: used[0]!.used, money: used[1]!.used, slots: 2 - remaining };
  };
}

/** Starts the server for the tests of a file, and begins again before each. */
export function startedSdks(): Sdks {
  const sdks = new Sdks();
  beforeAll(() => sdks.start());
  afterAll(() => sdks.stop());
  beforeEach(() => sdks.renew());
  return sdks;
}

export function answering(body: object, status = 200): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** Streams events, and then ends, breaks off, or waits for the client to leave. */
export function streaming(sent: readonly (object | string)[], end: 'ends' | 'breaks' | 'hangs' = 'ends'): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of sent) {
      const name = typeof event === 'object' && 'type' in event ? `event: ${String(event.type)}\n` : '';
      response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    }
    if (end === 'ends') response.end();
    else if (end === 'breaks') setImmediate(() => response.destroy());
  };
}

export async function readAll(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const part of stream) all.push(part);
  return all;
}
