import { accountId, createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { limitedDispatch, limitedFetch, type LimitedFetchOptions } from '@sluice/outgoing';
import { describe, expect, test } from 'vitest';

const limiter = createLimiter({
  limits: {
    Api: { key: everyone(), burst: 5, count: 100, period: '1s' },
    PerHost: { key: accountId(), burst: 5, count: 100, period: '1s' },
  },
  log: false,
});
const scheduler = createScheduler(limiter);
type Options = LimitedFetchOptions<'Api' | 'PerHost'>;

type Dispatch = (call: object, handler: { onResponseError(controller: unknown, error: Error): void }) => boolean;

const answer = async (): Promise<Response> => new Response('hello');
const limited = (options: Partial<Options> = {}) => limitedFetch({ scheduler, fetch: answer, ...options });
const left = async (id = 'https://api.example.com') =>
  (await limiter.check([{ limit: 'PerHost', id, cost: 0 }])).remaining;

describe('options that are wrong are errors at once', () => {
  test.each([
    [{ scheduler: limiter }, '`limitedFetch.scheduler` must be a scheduler'],
    [{ limits: [] }, '`limitedFetch.limits` must be an array of limits'],
    [{ limits: ['Other'] }, "No limit is named 'Other'. Limits: Api, PerHost."],
    [{ limits: [{ limit: 'Api', costs: 2 }] }, '`limitedFetch.limits[0]` has no option `costs`'],
    [{ limits: [{ limit: 'Api', cost: 6 }] }, '`limitedFetch.limits[0].cost` of limit "Api" must be at most 5'],
    [{ cost: 6 }, 'was 6. A larger cost could never pass. Raise the burst or lower the cost.'],
    [{ cost: 1.5 }, 'must be a whole number'],
    [{ cost: '2' }, '`limitedFetch.cost` must be a number or a function'],
    [{ id: 7 }, '`limitedFetch.id` must be a string or a function'],
    [
      { within: 0 },
      "`limitedFetch.within` must be a duration of whole microseconds from '1ms' to '7d', but was 0. Write",
    ],
    [{ priority: 11 }, '`limitedFetch.priority` must be a whole number from -10 to 10'],
    [{ fair: 1 }, '`limitedFetch.fair` must be a string or a function'],
    [{ fetch: 'fetch' }, '`limitedFetch.fetch` must be a function'],
    [{ retries: 11 }, '`limitedFetch.retries` must be a whole number from 0 to 10'],
    [{ retryMethods: 'POST' }, '`limitedFetch.retryMethods` must be an array of methods'],
    [{ retry: 1 }, 'no option `retry`'],
  ])('%o', (options, message) => {
    expect(() => limited(options as never)).toThrow(message);
  });

  test('also without options', () => {
    expect(() => limitedFetch(undefined as never)).toThrow('`limitedFetch` must be an object');
    expect(() => limitedDispatch(undefined as never)).toThrow('`limitedDispatch.scheduler` must be a scheduler');
  });
});

describe('a request that is wrong is an error, and takes nothing', () => {
  const used = async (): Promise<Request> => {
    const request = new Request('https://api.example.com', { method: 'POST', body: 'x' });
    await request.text();
    return request;
  };
  /** The init of a request whose body somebody else reads. */
  const read = (): RequestInit => {
    const body = new ReadableStream();
    body.getReader();
    return { method: 'POST', body, duplex: 'half' };
  };
  const url = async (): Promise<string> => 'https://api.example.com';

  test.each<[string, object, () => Promise<string | Request>, RequestInit | undefined, string]>([
    ['a relative URL', {}, async () => '/path', undefined, "must be an absolute URL, but was '/path'. There"],
    ['no URL', {}, async () => null as never, undefined, "must be an absolute URL, but was 'null'. There"],
    ['a body that was read', {}, used, undefined, "a request whose body was not read, but was 'one that was'. Make"],
    ['a body that is read', {}, url, read(), 'a request whose body was not read'],
    ['a signal that is aborted', {}, url, { signal: AbortSignal.abort(new Error('left')) }, 'left'],
    ['no id', { id: () => undefined }, url, undefined, 'of limit "PerHost" must be an id, but was undefined. Return'],
    ['an empty id', { id: () => '' }, url, undefined, '`limitedFetch.id` of limit "PerHost" must be an id'],
    ['a cost above the burst', { cost: () => 6 }, url, undefined, 'at most the burst, 5, but was 6. Such a request'],
    ['a cost that is not whole', { cost: () => 0.5 }, url, undefined, 'but was 0.5. Costs are tokens.'],
    ['a priority of 11', { priority: () => 11 }, url, undefined, 'must be a whole number from -10 to 10, but was 11'],
    ['a key that is not text', { fair: () => 7 }, url, undefined, '`run.fair` must be a string, but was 7'],
  ])('%s', async (_, options, input, init, message) => {
    const fetch = limited({ limits: ['PerHost'], ...options });
    await expect(fetch(await input(), init)).rejects.toThrow(message);
    expect([await left(), scheduler.running, scheduler.size]).toEqual([5, 0, 0]);
  });

  test.each([
    ['no origin', {}, {}, '`dispatch.origin` must be an absolute URL, but was undefined. For example'],
    ['a relative URL', { origin: '/path' }, {}, "`dispatch.origin` must be an absolute URL, but was '/path'"],
    ['no id', {}, { id: () => undefined as never }, '`limitedDispatch.id` of limit "PerHost" must be an id'],
    ['a cost above the burst', {}, { cost: () => 6 }, 'at most the burst, 5, but was 6. Such a request'],
  ])('%s of undici', async (what, call, options, message) => {
    const dispatch = limitedDispatch(scheduler, { limits: ['PerHost'], ...options })(() => true) as Dispatch;
    const origin = what === 'no origin' ? {} : { origin: 'https://api.example.com' };
    const failed = new Promise((_, reject) =>
      dispatch(
        { path: '/', method: 'GET', ...origin, ...call },
        { onResponseError: (_controller, error) => reject(error) },
      ),
    );
    await expect(failed).rejects.toThrow(message);
    expect([await left(), scheduler.running, scheduler.size]).toEqual([5, 0, 0]);
  });

  test('a `fetch` that throws', async () => {
    const fetch = limited({
      fetch: () => {
        throw new Error('thrown');
      },
    });
    await expect(fetch('https://other.example.com')).rejects.toThrow('thrown');
    expect(scheduler.running).toBe(0);
  });
});

test('the id is the origin by default, and that of everyone() where it has to be', async () => {
  const slow = createLimiter({
    limits: {
      Api: { key: everyone(), burst: 9, count: 1, period: '1h' },
      PerHost: { key: accountId(), burst: 9, count: 1, period: '1h' },
    },
    log: false,
  });
  const send = limitedFetch({ scheduler: createScheduler(slow), fetch: answer });
  for (const host of [
    'https://a.example.com/x',
    new URL('https://a.example.com:8443/y'),
    new Request('http://b.example.com'),
  ])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await send(host);
  const entries = [
    { limit: 'Api', id: 'everyone' },
    { limit: 'PerHost', id: 'https://a.example.com' },
    { limit: 'PerHost', id: 'https://a.example.com:8443' },
    { limit: 'PerHost', id: 'http://b.example.com' },
  ] as const;
  const { results } = await slow.check(entries.map((each) => ({ ...each, cost: 0 })));
  expect(results.map(({ remaining }) => remaining)).toEqual([6, 8, 8, 8]);
});
