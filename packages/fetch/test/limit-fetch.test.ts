import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accountId, clientNetwork, createLimiter, memoryStore, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { decisionOf, limitFetch, type LimitFetchOptions } from '@sluice/fetch';
import { afterEach, expect, test, vi } from 'vitest';

const userOf = (request: Request): string | null => request.headers.get('x-user');
const perUser = (more: object = {}): LimitFetchOptions => ({
  name: 'PerUser',
  key: accountId(userOf),
  count: 2,
  period: '1m',
  store: memoryStore({ time: new FakeTime() }),
  log: false,
  address: () => null,
  ...more,
});
const as = (user: string, init: RequestInit = {}): Request =>
  new Request('http://localhost/', { headers: { 'X-User': user }, ...init });

afterEach(() => vi.unstubAllEnvs());

test('a handler answers within the limit, sees the decision, and its response has the fields', async () => {
  const limited = limitFetch(perUser())((request) => new Response(`${decisionOf(request)?.remaining}`));
  const response = await limited(as('ann'));
  expect([await response.text(), response.headers.get('RateLimit')]).toEqual(['1', '"PerUser";r=1;t=30']);
  await limited(as('ann'));
  const denied = await limited(as('ann'));
  expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '30']);
});

test('an answer at once is a response and not a promise', () => {
  const limited = limitFetch(perUser())(() => new Response('ok'));
  expect(limited(as('ann'))).toBeInstanceOf(Response);
});

test('a request that is handled twice is decided twice', async () => {
  const limited = limitFetch(perUser())(() => new Response('ok'));
  const request = as('ann');
  expect((await limited(request)).headers.get('RateLimit')).toBe('"PerUser";r=1;t=30');
  expect((await limited(request)).headers.get('RateLimit')).toBe('"PerUser";r=0;t=30');
});

test('address gets the further arguments of the handler', async () => {
  const limit = limitFetch({
    name: 'PerClient',
    key: clientNetwork(),
    count: 1,
    period: '1m',
    store: memoryStore({ time: new FakeTime() }),
    address: (_request, info: { readonly remote: string }) => info.remote,
  });
  const limited = limit((_request: Request, info: { readonly remote: string }) => new Response(info.remote));
  const statusOf = async (remote: string): Promise<number> => (await limited(as('ann'), { remote })).status;
  expect([await statusOf('192.0.2.7'), await statusOf('192.0.2.7'), await statusOf('192.0.2.8')]).toEqual([
    200, 429, 200,
  ]);
});

test.each([
  [
    'null',
    () => null,
    /returned null, which is not an IP address.*such as '192\.0\.2\.7': let it be read where this server has it/,
  ],
  ['a text that is not an address', () => 'ann', /returned 'ann', which is not an IP address/],
  ['an error', () => { throw new Error('no such binding'); }, /no such binding/], // prettier-ignore
])('a limit by address without one is an error that says why: %s', async (_what, address, reason) => {
  const limited = limitFetch({ count: 1, period: '1m', address, log: false })(() => new Response('ok'));
  await expect((async () => limited(as('ann')))()).rejects.toThrow(reason);
});

test('without address it is an error at start, with what to write', () => {
  expect(() => limitFetch({ count: 1, period: '1m' } as never)).toThrow(
    /`limitFetch.address` must be a function.*but was undefined.*server.requestIP/,
  );
});

test.each([
  ['VERCEL', '1', 'on Vercel', 'Use a store in a database'],
  ['NEXT_RUNTIME', 'edge', 'in the Edge runtime', "Use the Node runtime, export const runtime = 'nodejs'"],
])('a memory store is refused where instances come and go: %s', (name, value, platform, remedy) => {
  vi.stubEnv(name, value);
  const make = (): unknown => limitFetch(perUser());
  expect(make).toThrow(`must be shared by all instances ${platform}, but was a memory store`);
  expect(make).toThrow(remedy);
  const shared = memoryStore();
  const store: Store = { guard: storeGuard, run: (operation) => shared.run(operation), close: () => shared.close() };
  expect(() => limitFetch(perUser({ store }))).not.toThrow();
});

test('an id that is not valid is answered with 400, and every other error is thrown to the server', async () => {
  const limited = limitFetch(perUser())(() => new Response('ok'));
  expect((await limited(as('x'.repeat(300)))).status).toBe(400);
  const failing = limitFetch(perUser({ cost: () => Promise.reject(new Error('boom')) }))(() => new Response('ok'));
  await expect(failing(as('ann'))).rejects.toThrow('boom');
});

test('onError answers what the handler throws, with the fields', async () => {
  const limit = limitFetch(perUser({ onError: () => new Response('sorry', { status: 500 }) }));
  const limited = limit(() => {
    throw new Error('boom');
  });
  const { status, headers } = await limited(as('ann'));
  expect([status, headers.get('RateLimit')]).toEqual([500, '"PerUser";r=1;t=30']);
});

test('a handler that throws releases its slot', async () => {
  const limiter = createLimiter<Request>({
    limits: { InFlight: concurrency({ key: accountId(userOf), concurrency: 1 }) },
    log: false,
  });
  const limited = limitFetch({ limiter, address: () => null })(() => Promise.reject(new Error('boom')));
  for (let i = 0; i < 3; i++) await expect(limited(as('ann'))).rejects.toThrow('boom');
});

test('a slot is released when the body was read, and when it was cancelled', async () => {
  const limiter = createLimiter<Request>({
    limits: { InFlight: concurrency({ key: accountId(userOf), concurrency: 1 }) },
    log: false,
  });
  const limited = limitFetch({ limiter, address: () => null })(() => new Response('hello'));
  const read = await limited(as('ann'));
  expect((await limited(as('ann'))).status).toBe(429);
  await read.text();
  const cancelled = await limited(as('ann'));
  expect(cancelled.status).toBe(200);
  await cancelled.body?.cancel();
  expect((await limited(as('ann'))).status).toBe(200);
});

test('an inner limited handler without a body leaves the slot to the response of the outer one', async () => {
  const limiter = createLimiter<Request>({
    limits: { InFlight: concurrency({ key: accountId(userOf), concurrency: 1 }) },
    log: false,
  });
  const inner = limitFetch(perUser())(() => new Response(null, { status: 204 }));
  const states: number[] = [];
  const outer = limitFetch({ limiter, address: () => null })(async (request) => {
    states.push((await inner(request)).status, (await outer(as('ann'))).status);
    return new Response('hello');
  });
  await (await outer(as('ann'))).text();
  expect([...states, (await outer(as('ann'))).status]).toEqual([204, 429, 200]);
});

test('a body that fails releases its slot, and fails for the server too', async () => {
  const limiter = createLimiter<Request>({
    limits: { InFlight: concurrency({ key: accountId(userOf), concurrency: 1 }) },
    log: false,
  });
  const failing = (): ReadableStream =>
    new ReadableStream({ pull: (controller) => controller.error(new Error('cut')) });
  const limited = limitFetch({ limiter, address: () => null })(() => new Response(failing()));
  await expect((await limited(as('ann'))).text()).rejects.toThrow('cut');
  expect((await limited(as('ann'))).status).toBe(200);
});

test('settle gets the response that was sent', async () => {
  const seen: unknown[] = [];
  const limit = limitFetch(
    perUser({ settle: (_request: Request, response: Response, end: object) => (seen.push(response.status, end), 0) }),
  );
  await (await limit(() => new Response('teapot', { status: 418 }))(as('ann'))).text();
  await expect.poll(() => seen).toEqual([418, { finished: true }]);
});

test('a response whose headers can not be changed is copied, with its status and its body', async () => {
  const upstream = Response.redirect('http://localhost/other', 307);
  const limited = limitFetch(perUser())(() => upstream);
  const { status, headers } = await limited(as('ann'));
  expect([status, headers.get('Location'), headers.get('RateLimit')]).toEqual([
    307,
    'http://localhost/other',
    '"PerUser";r=1;t=30',
  ]);
});

test('a response of a server that only fetch takes is passed on, with the fields', async () => {
  // A phrase of one byte is read as UTF-8, which it is not.
  const server = createServer((_, response) => void response.writeHead(999, 'refus\u00E9').end('no'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { settle: () => 1 };
  const response = await limitFetch(perUser(options))(() => fetch(`http://127.0.0.1:${port}`))(as('ann'));
  server.close();
  expect([response.status, response.statusText, await response.text()]).toEqual([999, 'refus\uFFFD', 'no']);
  expect(response.headers.get('RateLimit')).toBe('"PerUser";r=1;t=30');
});

test('fields of a handler of the same name stay', async () => {
  const limited = limitFetch(perUser())(() => new Response('ok', { headers: { RateLimit: '"Upstream";r=7' } }));
  expect((await limited(as('ann'))).headers.get('RateLimit')).toBe('"Upstream";r=7');
});

test.each([
  [{}, null],
  [{ 'Access-Control-Allow-Origin': '*' }, 'RateLimit, RateLimit-Policy, Retry-After'],
  [
    { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'ETag, ratelimit' },
    'ETag, ratelimit, RateLimit-Policy, Retry-After',
  ],
  [{ 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': '*' }, '*'],
])('scripts of other origins can read the fields of a response that is for them: %o', async (headers, exposed) => {
  const limited = limitFetch(perUser())(() => new Response('ok', { headers: headers as Record<string, string> }));
  expect((await limited(as('ann'))).headers.get('Access-Control-Expose-Headers')).toBe(exposed);
});

test('a store that fails closed is a 503', async () => {
  const refuse = (): Promise<never> => Promise.reject(new Error('connection refused'));
  const store: Store = { guard: storeGuard, run: refuse, close: () => undefined };
  const limited = limitFetch(perUser({ store, onFailure: 'closed' }))(() => new Response('ok'));
  expect((await limited(as('ann'))).status).toBe(503);
});

test('what is not a handler is an error', () => {
  expect(() => limitFetch(perUser())(undefined as never)).toThrow('`handler` must be a function');
  expect(() => limitFetch(perUser({ onError: 'no' }))).toThrow('`onError` must be a function');
});
