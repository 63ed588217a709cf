import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit, type RateLimitOptions } from '@sluice/hono';
import { Hono, type Context } from 'hono';
import { cors } from 'hono/cors';
import { expect, test } from 'vitest';

const key = accountId((c: Context) => c.req.header('X-User') ?? null);
const perUser = (more: object = {}): RateLimitOptions => ({
  name: 'PerUser',
  key,
  count: 2,
  period: '1m',
  store: memoryStore({ time: new FakeTime() }),
  log: false,
  address: () => null,
  ...more,
});
const asAnn = { headers: { 'X-User': 'ann' } };

test('a handler sees the decision in its variables, whatever kind of response it returns', async () => {
  const app = new Hono();
  app.use(rateLimit(perUser({ count: 3 })));
  app.get('/text', (c) => c.text(`${c.var.rateLimit?.remaining}`));
  app.get('/raw', () => new Response('raw'));
  const text = await app.request('/text', asAnn);
  expect([await text.text(), text.headers.get('RateLimit')]).toEqual(['2', '"PerUser";r=2;t=20']);
  expect((await app.request('/raw', asAnn)).headers.get('RateLimit')).toBe('"PerUser";r=1;t=20');
  expect((await app.request('/nowhere', asAnn)).headers.get('RateLimit')).toBe('"PerUser";r=0;t=20');
  expect((await app.request('/text', asAnn)).status).toBe(429);
});

test('after cors(), scripts of other origins can read the fields', async () => {
  const app = new Hono();
  app.use(cors(), rateLimit(perUser()));
  app.get('/', (c) => c.text('ok'));
  expect((await app.request('/', asAnn)).headers.get('Access-Control-Expose-Headers')).toBe(
    'RateLimit, RateLimit-Policy, Retry-After',
  );
});

test('an error of a key goes to onError, and its slot is released', async () => {
  const limiter = createLimiter<Context>({
    limits: {
      InFlight: concurrency({ key, concurrency: 1 }),
      Bad: { key: accountId(() => Promise.reject(new Error('boom'))), count: 1, period: '1m' },
    },
    log: false,
  });
  const app = new Hono();
  app.use(rateLimit({ limiter, limits: ['InFlight', 'Bad'], address: () => null }));
  app.onError((error, c) => c.text(error.message, 500));
  for (let i = 0; i < 3; i++) expect(await (await app.request('/', asAnn)).text()).toBe('boom');
});

test('a limit by address without one is an error that says what the function returned', async () => {
  const app = new Hono();
  app.use(rateLimit({ count: 1, period: '1m', address: () => undefined, log: false }));
  const errors: string[] = [];
  app.onError((error, c) => (errors.push(error.message), c.text('failed', 500)));
  expect((await app.request('/')).status).toBe(500);
  expect(errors).toEqual([expect.stringContaining('returned undefined, which is not an IP address')]);
});

test('without address it is an error at start, with what to write', () => {
  expect(() => rateLimit({ count: 1, period: '1m' } as never)).toThrow(
    /`rateLimit.address` must be a function.*getConnInfo\(c\).remote.address/,
  );
});
