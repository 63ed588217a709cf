import { limitedDispatch } from '@sluice/outgoing';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import * as undici7 from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Provider } from './provider.ts';
import { learner, scene } from './scene.ts';

let provider: Provider;
beforeEach(async () => {
  provider = await new Provider().open();
});
afterEach(() => provider.close());

// undici 8 needs a newer Node than this package does.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasUndici8 = major > 22 || (major === 22 && minor >= 19);
const versions = [
  { name: 'undici 7', undici: undici7 },
  ...(hasUndici8 ? [{ name: 'undici 8', undici: (await import('undici8')) as unknown as typeof undici7 }] : []),
];

describe.each(versions)('a request of $name', ({ undici }) => {
  const { Agent, fetch, interceptors, request } = undici;
  const agents: undici7.Dispatcher[] = [];
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.destroy()));
  });

  function limited(
    options: Parameters<typeof scene>[0] = {},
    ...more: undici7.Dispatcher.DispatcherComposeInterceptor[]
  ) {
    const scenery = scene(options);
    const dispatcher = new Agent().compose(limitedDispatch(scenery.scheduler, { learn: false }), ...more);
    agents.push(dispatcher);
    return { ...scenery, dispatcher };
  }

  test('waits for its turn, and frees its slot when its answer has ended', async () => {
    const { dispatcher, expectBalanced } = limited({ slots: 2 });
    const answers = Array.from({ length: 8 }, async () => {
      const { body, statusCode, headers } = await request(provider.url, { dispatcher });
      return [statusCode, headers['content-type'], ((await body.json()) as { id: string }).id];
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => [200, 'application/json', 'm']));
    expect(provider.calls).toBe(8);
    expect(provider.most).toBeLessThanOrEqual(2);
    await expectBalanced(provider);
  });

  test('is that of each fetch with the dispatcher, streamed or not', async () => {
    const { dispatcher, expectBalanced } = limited({ slots: 1 });
    const post = { dispatcher, method: 'POST', body: 'text' };
    const first = await fetch(`${provider.url}/cookies`, post);
    expect([await first.text(), first.headers.getSetCookie()]).toEqual(['hello', ['a=1', 'b=2']]);
    const streamed = await fetch(`${provider.url}/chat/completions`, { ...post, headers: { 'x-streamed': 'yes' } });
    expect((await streamed.text()).endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await fetch(`${provider.url}/empty`, { dispatcher })).status).toBe(204);
    await expectBalanced(provider);
  });

  test('that is aborted while it waits ends at once, and takes nothing', async () => {
    const { dispatcher, scheduler, expectBalanced } = limited({ slots: 1 });
    const running = await request(`${provider.url}/endless`, { dispatcher });
    const leaving = new AbortController();
    const { signal } = leaving;
    const waiting = [request(provider.url, { dispatcher, signal }), fetch(provider.url, { dispatcher, signal })].map(
      (each) => each.catch((error: unknown) => error),
    );
    await expect.poll(() => scheduler.size).toBe(2);
    leaving.abort(new Error('left'));
    expect(await Promise.all(waiting)).toMatchObject([{ message: 'left' }, { message: 'left' }]);
    await expect.poll(() => scheduler.size).toBe(0);
    running.body.on('error', () => undefined).destroy();
    await expectBalanced(provider);
  });

  test.each([
    ['aborted', 'endless', (leaving: AbortController) => leaving.abort(new Error('left')), 'left'],
    ['destroyed', 'endless', (_: AbortController, body: Readable) => body.destroy(new Error('left')), 'left'],
    ['broken off', 'broken', () => undefined, /other side closed|terminated|aborted/],
  ])('that is %s frees its slot', async (_, path, leave, message) => {
    const { dispatcher, expectBalanced } = limited({ slots: 1 });
    const leaving = new AbortController();
    const { body } = await request(`${provider.url}/${path}`, { dispatcher, signal: leaving.signal });
    const text = body.text();
    leave(leaving, body);
    await expect(text).rejects.toThrow(message);
    await expectBalanced(provider);
  });

  test('that is not answered frees its slot', async () => {
    const { dispatcher, expectBalanced } = limited({ slots: 1 });
    await expect(request(`${provider.url}/refused`, { dispatcher })).rejects.toThrow('other side closed');
    await expectBalanced(provider);
  });

  test('waits for what an answer before it has taught', async () => {
    const dispatcher = new Agent().compose(limitedDispatch(learner()));
    agents.push(dispatcher);
    provider.denials.push(429);
    provider.retryAfterMs = 300;
    const statuses: number[] = [];
    for (let i = 0; i < 2; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { statusCode, body } = await request(provider.url, { dispatcher });
      statuses.push(statusCode);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await body.dump();
    }
    expect(statuses).toEqual([429, 200]);
    expect(provider.times[1]! - provider.times[0]!).toBeGreaterThanOrEqual(300);
  });

  test('is read no faster than its reader reads', async () => {
    const { dispatcher, expectBalanced } = limited();
    const { body } = await request(`${provider.url}/large`, { dispatcher });
    let length = 0;
    for await (const chunk of body) {
      length += (chunk as Buffer).length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(length).toBe(4_000_000);
    await expectBalanced(provider);
  });

  test('that the interceptor for retries sends again waits again', async () => {
    const { dispatcher, expectBalanced } = limited({ slots: 1 }, interceptors.retry({ minTimeout: 1, maxRetries: 3 }));
    provider.denials.push(503, 429);
    const { statusCode, body } = await request(provider.url, { dispatcher });
    await body.dump();
    expect([statusCode, provider.calls]).toEqual([200, 3]);
    await expectBalanced(provider);
  });

  test.each(['fetch', 'interceptor'])('that is redirected waits again for the next one, by a %s', async (kind) => {
    const redirect = kind === 'fetch' ? [] : [interceptors.redirect({ maxRedirections: 3 })];
    const { dispatcher, expectBalanced } = limited({ slots: 1 }, ...redirect);
    const url = `${provider.url}/moved`;
    const answer = kind === 'fetch' ? await fetch(url, { dispatcher }) : (await request(url, { dispatcher })).body;
    expect([await answer.text(), provider.calls, provider.most]).toEqual(['hello', 2, 1]);
    await expectBalanced(provider);
  });

  test('inside of one that holds its slot is an error', async () => {
    const { scheduler } = scene({ slots: 1 });
    const nested = limitedDispatch(scheduler, { learn: false });
    const dispatcher = new Agent().compose(nested, nested);
    agents.push(dispatcher);
    await expect(request(provider.url, { dispatcher })).rejects.toMatchObject({ code: 'ERR_NESTED' });
  });

  test('that changes the protocol holds its slot until its socket is closed', async () => {
    const { dispatcher, scheduler, expectBalanced } = limited({ slots: 1 });
    const { socket } = await dispatcher.upgrade({ path: '/', protocol: 'echo', origin: provider.url } as never);
    await new Promise((resolve) => setImmediate(resolve));
    expect(scheduler.running).toBe(1);
    socket.end();
    socket.resume();
    await once(socket, 'close');
    await expectBalanced(provider);
  });

  test('that does not begin in time fails with the error of the scheduler', async () => {
    const { scheduler } = scene({ slots: 1 });
    const dispatcher = new Agent().compose(limitedDispatch(scheduler, { within: '20ms' }));
    agents.push(dispatcher);
    const { body } = await request(`${provider.url}/endless`, { dispatcher });
    await expect(request(provider.url, { dispatcher })).rejects.toMatchObject({
      code: 'ERR_NOT_BEGUN',
      reason: 'within',
    });
    body.on('error', () => undefined).destroy();
  });

  test('to a dispatcher that is closed frees its slot', async () => {
    const { dispatcher, expectBalanced } = limited({ slots: 1 });
    await dispatcher.close();
    await expect(request(provider.url, { dispatcher })).rejects.toThrow(/closed|destroyed/);
    provider.calls++;
    await expectBalanced(provider);
  });

  test('takes the id and the cost that functions make of its options', async () => {
    const { limiter, scheduler } = scene();
    const options = {
      limits: [{ limit: 'Calls', cost: ({ path }: { readonly path: string }) => path.length }],
      priority: ({ method }: { readonly method: string }) => (method === 'GET' ? 1 : 0),
    } as const;
    const dispatcher = new Agent().compose(limitedDispatch(scheduler, options));
    agents.push(dispatcher);
    await (await request(`${provider.url}/empty`, { dispatcher })).body.dump();
    expect((await limiter.check([{ limit: 'Calls', id: 'everyone', cost: 0 }])).remaining).toBe(994);
  });
});

test('the global dispatcher limits every fetch of the process', async () => {
  const { scheduler, expectBalanced } = scene({ slots: 1 });
  const before = undici7.getGlobalDispatcher();
  const agent = new undici7.Agent().compose(limitedDispatch(scheduler));
  undici7.setGlobalDispatcher(agent);
  try {
    const texts = await Promise.all([1, 2, 3].map(async () => (await fetch(provider.url)).text()));
    expect([texts.length, provider.calls, provider.most]).toEqual([3, 3, 1]);
    const leaving = new AbortController();
    const running = await fetch(`${provider.url}/endless`);
    const waiting = fetch(provider.url, { signal: leaving.signal });
    await expect.poll(() => scheduler.size).toBe(1);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect.poll(() => scheduler.size).toBe(0);
    await running.body!.cancel();
    await expectBalanced(provider);
  } finally {
    undici7.setGlobalDispatcher(before);
    await agent.destroy();
  }
});
