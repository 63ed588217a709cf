import type { Limiter } from '@sluice/core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';

type Handler = (request: Request) => Response | Promise<Response>;

let redis: RedisServer;
let route: { readonly GET: Handler; readonly POST: Handler };
let limits: {
  readonly limiter: Limiter;
  readonly limitRequests: (handler: Handler) => Handler;
  readonly limitOrders: (handler: Handler) => Handler;
};

beforeAll(async () => {
  redis = await redisServer();
  vi.stubEnv('REDIS_URL', redis.url);
  limits = await exampleFile('lib/limits.js');
  route = await exampleFile('app/api/orders/route.js');
  await limits.limiter.ready();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await limits.limiter.close({ store: true });
  await redis.stop();
});

function exampleFile<T>(path: string): Promise<T> {
  return import(new URL(`../../examples/nextjs/${path}`, import.meta.url).href) as Promise<T>;
}

const order = (key: string): Request =>
  new Request('http://localhost/api/orders', {
    method: 'POST',
    body: '{"item":7}',
    headers: { 'X-API-Key': `${key}-key` },
  });

it('the route handler admits the burst of an API key, and then answers 429 with the wait', async () => {
  const responses: Response[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let i = 0; i < 6; i++) responses.push(await route.POST(order('alice')));
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 429]);
  expect(await responses[0]!.json()).toEqual({ order: { item: 7 }, left: 4 });
  // A minute but for the time that the requests took.
  expect(Number(responses[5]!.headers.get('Retry-After'))).toBeGreaterThan(30);
  expect(Number(responses[5]!.headers.get('Retry-After'))).toBeLessThanOrEqual(60);
  expect((await route.POST(order('bob'))).status).toBe(201);
  expect((await route.GET(order('alice'))).status).toBe(200);
});

it('a key that is not known gets 400, and no bucket of its own', async () => {
  expect((await route.POST(order('mallory'))).status).toBe(400);
  expect(await redis.call('KEYS', 'sluice:*mallory*')).toEqual([]);
});

it('the buckets are in Redis, where all instances find them', async () => {
  await route.POST(order('carol'));
  expect(await redis.call('KEYS', 'sluice:*carol*')).toHaveLength(1);
});

it('the proxy limits clients by the field that the proxy in front of it sets', async () => {
  const proxy = limits.limitRequests(() => new Response(null, { headers: { 'x-middleware-next': '1' } }));
  const from = (address: string): Request =>
    new Request('http://localhost/api/orders', { headers: { 'X-Real-IP': address } });
  const passed = await proxy(from('192.0.2.7'));
  expect(passed.headers.get('x-middleware-next')).toBe('1');
  expect(passed.headers.get('RateLimit')).toBe('"RequestsPerClient";r=49;t=1');
  const startMs = performance.now();
  const flood = await Promise.all(Array.from({ length: 80 }, () => proxy(from('192.0.2.7'))));
  const back = (20 * (performance.now() - startMs)) / 1000;
  expect(flood.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(80 - 50 - back);
  expect((await proxy(from('192.0.2.8'))).status).toBe(200);
});

it('a second bundle has its own copy of Sluice, and shares the buckets and the connection', async () => {
  vi.resetModules();
  const bundle = await exampleFile<typeof limits>('lib/limits.js?bundle=proxy');
  expect(bundle.limiter).not.toBe(limits.limiter);
  // A limit of which no token comes back meanwhile.
  const answer = (): Response => new Response(null);
  const here = await limits.limitOrders(answer)(order('dave'));
  const there = await bundle.limitOrders(answer)(order('dave'));
  expect([here, there].map(({ headers }) => headers.get('RateLimit'))).toEqual([
    expect.stringMatching(/^"OrdersPerKey";r=4;/),
    expect.stringMatching(/^"OrdersPerKey";r=3;/),
  ]);
  const clients = await redis.call<string>('CLIENT', 'LIST');
  expect(clients.trim().split('\n').length).toBeLessThanOrEqual(2);
});
