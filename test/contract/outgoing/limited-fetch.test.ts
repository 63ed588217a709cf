import { limitedFetch } from '@sluice/outgoing';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectGarbage } from '../../collect-garbage.ts';
import { Provider } from './provider.ts';
import { learner, scene } from './scene.ts';

/** Of its own memory: the test would harm that of others where it fails. */
const bufferOf = (text: string): Buffer => Buffer.alloc(text.length, text);
const TEXT = bufferOf('hello');

let provider: Provider;
beforeEach(async () => {
  provider = await new Provider().open();
});
afterEach(() => provider.close());

describe('a response', () => {
  test.each(['moved', 'strange'])('is that of fetch: its status, fields, address and bytes (%s)', async (path) => {
    const { scheduler, expectBalanced } = scene();
    const limited = limitedFetch({ scheduler });
    const [ours, plain] = await Promise.all([limited(`${provider.url}/${path}`), fetch(`${provider.url}/${path}`)]);
    const shown = ({ status, statusText, ok, url, redirected, type, headers }: Response) => ({
      status,
      statusText,
      ok,
      url,
      redirected,
      type,
      cookies: headers.getSetCookie(),
      more: headers.get('x-more'),
    });
    expect(shown(ours)).toEqual(shown(plain));
    expect(ours).toBeInstanceOf(Response);
    const copy = ours.clone();
    expect(shown(copy)).toEqual(shown(plain));
    expect([await ours.text(), await copy.text()]).toEqual(['hello', 'hello']);
    await plain.text();
    provider.calls -= path === 'moved' ? 3 : 1;
    await expectBalanced(provider);
  });

  test.each([
    ['empty', [bufferOf('he'), Buffer.alloc(0), bufferOf('llo')]],
    ['of one buffer', [TEXT.subarray(0, 2), TEXT.subarray(2)]],
  ])('of another fetch may have parts that are %s, whose memory stays that of others', async (_, parts) => {
    const { scheduler } = scene();
    const response = new Response(Readable.toWeb(Readable.from(parts)) as ReadableStream);
    const limited = limitedFetch({ scheduler, fetch: async () => response });
    expect(await (await limited('https://api.example.com')).text()).toBe('hello');
    expect(parts.map((part) => part.toString()).join('')).toBe('hello');
  });

  test.each([204, 205, 304])('of another fetch may have a body that its status excludes: %i', async (status) => {
    const { scheduler } = scene({ slots: 1 });
    const response = new Response(new ReadableStream({ start: (body) => body.close() }));
    Object.defineProperty(response, 'status', { value: status });
    const answer = await limitedFetch({ scheduler, fetch: async () => response })('https://api.example.com');
    expect([answer.status, await answer.text(), scheduler.running]).toEqual([status, '', 0]);
  });

  test('that redirects is not followed where the request says so', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler });
    const answer = await limited(`${provider.url}/moved`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([302, '/cookies', '']);
    await expect(limited(`${provider.url}/moved`, { redirect: 'error' })).rejects.toThrow('fetch failed');
    await expectBalanced(provider);
  });

  test('frees its slot when its body has ended, and not before', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler });
    const first = await limited(provider.url);
    let hasBegun = false;
    const second = limited(provider.url).then((response) => {
      hasBegun = true;
      return response.json();
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([scheduler.running, scheduler.size, hasBegun]).toEqual([1, 1, false]);
    await first.json();
    expect(await second).toMatchObject({ id: 'm' });
    await expectBalanced(provider);
  });

  test('without a body frees its slot at once', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler });
    const kept = [
      await limited(`${provider.url}/empty`),
      await limited(`${provider.url}/nothing`),
      await limited(provider.url, { method: 'HEAD' }),
    ];
    await expectBalanced(provider);
    expect(kept.map(({ status }) => status)).toEqual([204, 200, 200]);
  });

  test('that is cancelled frees its slot', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const response = await limitedFetch({ scheduler })(`${provider.url}/endless`);
    expect(scheduler.running).toBe(1);
    await response.body!.cancel();
    await expectBalanced(provider);
  });

  test('that is aborted fails with the reason, and frees its slot', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const leaving = new AbortController();
    const response = await limitedFetch({ scheduler })(`${provider.url}/endless`, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(response.text()).rejects.toThrow('left');
    await expectBalanced(provider);
  });

  test('that breaks off frees its slot', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const response = await limitedFetch({ scheduler })(`${provider.url}/broken`);
    await expect(response.text()).rejects.toThrow('terminated');
    await expectBalanced(provider);
  });

  test('that does not come frees its slot', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    await expect(limitedFetch({ scheduler })(`${provider.url}/refused`)).rejects.toThrow('fetch failed');
    await expectBalanced(provider);
  });

  test('that is aborted while nobody reads it frees its slot', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const leaving = new AbortController();
    const response = await limitedFetch({ scheduler })(`${provider.url}/endless`, { signal: leaving.signal });
    leaving.abort();
    await expectBalanced(provider);
    expect(response.bodyUsed).toBe(false);
  });

  test('that is garbage-collected frees its slot, and its connection', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler });
    const forget = async (): Promise<number> => (await limited(`${provider.url}/endless`)).status;
    expect(await forget()).toBe(200);
    expect(scheduler.running).toBe(1);
    await collectGarbage(() => scheduler.running === 0, 200);
    await expectBalanced(provider);
    await expect.poll(() => provider.running).toBe(0);
  });

  test('keeps its slot while its body can be read', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const readerOf = async () => (await limitedFetch({ scheduler })(`${provider.url}/endless`)).body!.getReader();
    const reader = await readerOf();
    await collectGarbage(() => scheduler.running === 0);
    expect(scheduler.running).toBe(1);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('first');
    await reader.cancel();
    await expectBalanced(provider);
  });

  test('is read as bytes, into a buffer of the reader, and no faster than that', async () => {
    const { scheduler, expectBalanced } = scene();
    const { body } = await limitedFetch({ scheduler })(`${provider.url}/large`);
    const reader = body!.getReader({ mode: 'byob' });
    let length = 0;
    let isDone = false;
    while (!isDone) {
      // oxlint-disable-next-line no-await-in-loop -- one part after the other
      const { done, value } = await reader.read(new Uint8Array(65_536));
      isDone = done;
      length += value?.byteLength ?? 0;
    }
    expect(length).toBe(4_000_000);
    await expectBalanced(provider);
  });
});

describe('a request', () => {
  test('that is aborted while it waits takes nothing, and leaves no listener', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler });
    const running = await limited(`${provider.url}/endless`);
    const leaving = new AbortController();
    const waiting = limited(provider.url, { signal: leaving.signal });
    await expect.poll(() => scheduler.size).toBe(1);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    await running.body!.cancel();
    await expectBalanced(provider);
  });

  test('leaves no more listeners on its signal than fetch does', async () => {
    const { scheduler } = scene({ slots: 1 });
    const limited = limitedFetch({ scheduler, learn: false, retries: 2 });
    const count = async (send: typeof fetch): Promise<number> => {
      const { signal } = new AbortController();
      await (await send(provider.url, { signal })).text();
      return getEventListeners(signal, 'abort').length;
    };
    expect(await count(limited)).toBe(await count(fetch));
  });

  test('takes the id and the cost that functions make of it, which may read it', async () => {
    const { limiter, scheduler } = scene();
    const bodies: string[] = [];
    const limited = limitedFetch({
      scheduler,
      limits: [{ limit: 'Calls', cost: async (request) => (await request.text()).length }, 'InFlight'],
      priority: (request) => (request.headers.get('urgent') === 'yes' ? 10 : 0),
      fair: ({ url }) => url,
      fetch: async (input, init) => {
        bodies.push(await new Request(input instanceof Request ? input.clone() : input, init).text());
        return fetch(input, init);
      },
    });
    const post = { method: 'POST', body: '1234567', headers: { urgent: 'yes' } };
    await (await limited(provider.url, post)).text();
    await (await limited(new Request(provider.url, post))).text();
    const left = await limiter.check([{ limit: 'Calls', id: 'everyone', cost: 0 }]);
    expect([left.remaining, bodies]).toEqual([986, ['1234567', '1234567']]);
  });
});

describe('a request that is denied', () => {
  test('is not sent again by default', async () => {
    const { scheduler, expectBalanced } = scene();
    provider.denials.push(429);
    const response = await limitedFetch({ scheduler, learn: false })(provider.url);
    expect([response.status, await response.json()]).toEqual([429, { error: { message: 'denied' } }]);
    await expectBalanced(provider);
  });

  test.each([
    ['GET', undefined, [429, 503], 200, 3],
    ['PUT', 'text', [429], 200, 2],
    ['GET', undefined, [429, 429, 429, 429], 429, 4],
    ['POST', 'text', [429], 429, 1],
    ['GET', undefined, [500], 500, 1],
    ['PUT', new ReadableStream({ pull: (to) => to.close() }), [429], 429, 1],
  ])('is sent again as often as `retries` says, if it may be: %s', async (method, body, denials, status, calls) => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    provider.denials.push(...denials);
    const init = { method, ...(body !== undefined && { body, duplex: 'half' }) } as RequestInit;
    const response = await limitedFetch({ scheduler, learn: false, retries: 3 })(provider.url, init);
    expect([response.status, provider.calls]).toEqual([status, calls]);
    await response.text();
    await expectBalanced(provider);
  });

  test('is sent again with its body, and by a method that it was told to send again', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    provider.denials.push(429, 429);
    const limited = limitedFetch({ scheduler, learn: false, retries: 3, retryMethods: ['post'] });
    const response = await limited(new Request(provider.url, { method: 'POST', body: 'text' }));
    expect([await response.json(), provider.calls]).toMatchObject([{ id: 'm' }, 3]);
    await expectBalanced(provider);
  });

  test('goes before requests that came later', async () => {
    const { scheduler } = scene({ slots: 1 });
    const order: string[] = [];
    provider.denials.push(429);
    const limited = limitedFetch({
      scheduler,
      learn: false,
      retries: 1,
      fetch: (input, init) => {
        order.push(new Request(input).url.at(-1)!);
        return fetch(input, init);
      },
    });
    const asked = ['1', '2', '3'].map(async (name) => (await limited(`${provider.url}/${name}`)).text());
    scheduler.pause();
    await expect.poll(() => scheduler.size, { timeout: 20_000 }).toBe(3);
    scheduler.resume();
    await Promise.all(asked);
    expect(order).toEqual(['1', '1', '2', '3']);
  });

  test('returns its last answer when there is no time for another try', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    provider.denials.push(429, 429);
    const response = await limitedFetch({ scheduler, learn: false, retries: 5, within: '100ms' })(provider.url);
    expect([response.status, provider.calls, await response.json()]).toMatchObject([429, 1, { error: {} }]);
    await expectBalanced(provider);
  });

  test('is not sent again after it was aborted', async () => {
    const { scheduler, expectBalanced } = scene({ slots: 1 });
    const leaving = new AbortController();
    provider.denials.push(503);
    const asked = limitedFetch({ scheduler, learn: false, retries: 5 })(provider.url, { signal: leaving.signal });
    await expect.poll(() => provider.calls - scheduler.running).toBe(1);
    leaving.abort(new Error('left'));
    await expect(asked).rejects.toThrow('left');
    await expectBalanced(provider);
  });
});

test('what an answer teaches holds back the requests after it', async () => {
  const limited = limitedFetch({ scheduler: learner() });
  provider.denials.push(429);
  provider.retryAfterMs = 300;
  const statuses = [(await limited(provider.url)).status, (await limited(provider.url)).status];
  expect(statuses).toEqual([429, 200]);
  expect(provider.times[1]! - provider.times[0]!).toBeGreaterThanOrEqual(300);
});
