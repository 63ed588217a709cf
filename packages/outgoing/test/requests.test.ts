import { accountId, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler } from '@sluice/core/scheduler';
import { limitedFetch, type LimitedFetchOptions } from '@sluice/outgoing';
import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';

const url = 'https://api.example.com';

/** A door whose provider answers with the body that it was sent. */
function scene(options: Partial<LimitedFetchOptions<'Api' | 'InFlight'>> = {}) {
  const limits = {
    Api: { key: everyone(), burst: 10, count: 1, period: '1h' },
    InFlight: concurrency({ key: everyone(), concurrency: 1 }),
  } as const;
  const limiter = createLimiter({ limits, log: false });
  const scheduler = createScheduler(limiter);
  const sent: string[] = [];
  const fetch = async (input: Parameters<typeof globalThis.fetch>[0], init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    sent.push(new URL(request.url).pathname);
    return new Response(await request.text());
  };
  return { limiter, scheduler, sent, limited: limitedFetch({ scheduler, fetch, limits: ['Api'], ...options }) };
}

test('functions of options get one copy of the request, without a body that can be read once', async () => {
  const seen: Request[] = [];
  const note = (request: Request): number => seen.push(request);
  const { limited } = scene({
    cost: async (request) => (note(request), (await request.text()).length + 1),
    fair: (request) => (note(request), ''),
  });
  const body = new Blob(['text']).stream();
  const answer = await limited(url, { method: 'POST', body, duplex: 'half' });
  expect([await answer.text(), seen.length, new Set(seen).size, seen[0]!.body]).toEqual(['text', 2, 1, null]);
});

test('a request that is not sent again is used up, as by fetch', async () => {
  const { limited } = scene();
  const request = new Request(url, { method: 'POST', body: 'text' });
  await limited(request);
  expect(request.bodyUsed).toBe(true);
});

test('an id that is a promise is awaited', async () => {
  const limiter = createLimiter({ limits: { PerHost: { key: accountId(), count: 9, period: '1h' } }, log: false });
  const fetch = async (): Promise<Response> => new Response();
  const id = async ({ url: address }: Request): Promise<string> => new URL(address).hostname;
  await limitedFetch({ scheduler: createScheduler(limiter), fetch, id })(url);
  expect(limiter.checkSync([{ limit: 'PerHost', id: 'api.example.com', cost: 0 }]).remaining).toBe(8);
});

test('a cost that is a promise is awaited', async () => {
  const { limited, limiter } = scene({ cost: async () => 4 });
  await limited(url);
  expect(limiter.checkSync([{ limit: 'Api', id: 'everyone', cost: 0 }]).remaining).toBe(6);
});

test('copies for functions leave no listener on the signal', async () => {
  const { limited } = scene({ cost: () => 1, fetch: async () => new Response() });
  const { signal } = new AbortController();
  await limited(url, { signal });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('the signal of a Request ends its wait', async () => {
  const { limited, scheduler, sent } = scene();
  const leaving = new AbortController();
  scheduler.pause();
  const failed = limited(new Request(url, { signal: leaving.signal })).catch((error: unknown) => String(error));
  expect(scheduler.size).toBe(1);
  leaving.abort(new Error('left'));
  expect([await failed, scheduler.size, sent]).toEqual(['Error: left', 0, []]);
});

test('keys have their calls in turn, and urgent calls come first', async () => {
  const { limited, scheduler, sent } = scene({
    fair: ({ url: address }) => new URL(address).pathname[1]!,
    limits: ['InFlight'],
    priority: ({ url: address }) => (address.endsWith('!') ? 5 : 0),
  });
  scheduler.pause();
  const all = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/!'].map(async (path) => (await limited(`${url}/${path}`)).text());
  scheduler.resume();
  await Promise.all(all);
  expect(sent).toEqual(['/c/!', '/a/1', '/b/1', '/a/2', '/b/2', '/a/3']);
});
