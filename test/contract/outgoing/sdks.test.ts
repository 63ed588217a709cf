import Anthropic from '@anthropic-ai/sdk';
import { Octokit } from '@octokit/core';
import { limitedFetch } from '@sluice/outgoing';
import axios from 'axios';
import { getEventListeners } from 'node:events';
import { createFetch } from 'ofetch';
import OpenAI from 'openai';
import { Octokit as OctokitWithPlugins } from 'octokit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Provider } from './provider.ts';
import { scene } from './scene.ts';

interface Ask {
  readonly url: string;
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal;
}

/** How often each client sends a request that is denied. Those that never do so by themselves: once. */
interface Client {
  readonly name: string;
  readonly tries: number;
  readonly ask: (ask: Ask) => Promise<unknown>;
  /** Reads an answer part by part. */
  readonly stream?: (ask: Ask) => Promise<unknown>;
}

const MESSAGES = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };

const openai = ({ url, fetch }: Ask) => new OpenAI({ apiKey: 'k', baseURL: url, fetch, maxRetries: 1 });
const anthropic = ({ url, fetch }: Ask) => new Anthropic({ apiKey: 'k', baseURL: url, fetch, maxRetries: 1 });

const clients: Client[] = [
  {
    name: 'openai',
    tries: 2,
    ask: async (ask) => openai(ask).chat.completions.create(MESSAGES, { signal: ask.signal ?? null }),
    async stream(ask) {
      const headers = { 'x-streamed': 'yes' };
      const stream = await openai(ask).chat.completions.create({ ...MESSAGES, stream: true }, { headers });
      let text = '';
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
      return text;
    },
  },
  {
    name: '@anthropic-ai/sdk',
    tries: 2,
    ask: async (ask) => anthropic(ask).messages.create({ ...MESSAGES, max_tokens: 1 }, { signal: ask.signal ?? null }),
  },
  {
    name: '@octokit/core',
    tries: 1,
    ask: async ({ url, fetch, signal }) => {
      const octokit = new Octokit({ baseUrl: url, request: { fetch } });
      return octokit.request('GET /user', { request: { ...(signal && { signal }) } });
    },
  },
  {
    name: 'octokit without its throttling',
    tries: 1,
    ask: async ({ url, fetch, signal }) => {
      const options = { baseUrl: url, request: { fetch }, throttle: { enabled: false }, retry: { enabled: false } };
      return new OctokitWithPlugins(options).request('GET /user', { request: { ...(signal && { signal }) } });
    },
  },
  {
    name: 'axios',
    tries: 1,
    ask: async ({ url, fetch, signal }) =>
      axios.get(url, { adapter: 'fetch', env: { fetch }, ...(signal && { signal }) } as never),
  },
  {
    name: 'ofetch',
    tries: 2,
    ask: async ({ url, fetch, signal }) =>
      createFetch({ fetch, Headers, AbortController })(url, { retry: 1, ...(signal && { signal }) }),
  },
];

// ky needs a newer Node than this package does.
if (Number.parseInt(process.versions.node, 10) >= 22) {
  const { default: ky } = await import('ky');
  clients.push({
    name: 'ky',
    tries: 2,
    ask: async ({ url, fetch, signal }) =>
      ky(url, { fetch, retry: { limit: 1, delay: () => 1 }, ...(signal && { signal }) }).json(),
  });
}

let provider: Provider;
beforeEach(async () => {
  provider = await new Provider().open();
});
afterEach(() => provider.close());

describe.each(clients)('$name', ({ ask, stream, tries }) => {
  test('sends each request at its turn, and takes a token for each that the provider sees', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 2 });
    const fetch = limitedFetch({ scheduler });
    await Promise.all(Array.from({ length: 5 }, () => ask({ url: provider.url, fetch })));
    expect(provider.calls).toBe(5);
    expect(provider.most).toBeLessThanOrEqual(2);
    await expectBalanced(provider);
  });

  test('waits again for what it sends again, and frees the slots of denials', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    provider.denials.push(...Array.from({ length: tries }, () => 429));
    const fetch = limitedFetch({ scheduler, learn: false });
    await expect(ask({ url: provider.url, fetch })).rejects.toThrow(/429|denied/);
    expect(provider.calls).toBe(tries);
    await expectBalanced(provider);
  });

  test('stops to wait when it is aborted, and takes nothing', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const fetch = limitedFetch({ scheduler });
    const running = await fetch(`${provider.url}/endless`);
    const leaving = new AbortController();
    const waiting = ask({ url: provider.url, fetch, signal: leaving.signal });
    await expect.poll(() => scheduler.size).toBe(1);
    leaving.abort();
    await expect(waiting).rejects.toThrow(/abort|cancel/i);
    expect(scheduler.size).toBe(0);
    await running.body!.cancel();
    await expectBalanced(provider);
    await expect.poll(() => getEventListeners(leaving.signal, 'abort').length).toBe(0);
  });

  test.runIf(stream !== undefined)('reads a stream, which frees its slot when it has ended', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    expect(await stream!({ url: provider.url, fetch: limitedFetch({ scheduler }) })).toBe('hello hello hello ');
    await expectBalanced(provider);
  });
});
