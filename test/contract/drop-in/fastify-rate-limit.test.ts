import fastifyRateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import { memoryStore, type LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import {
  rateLimitStore,
  type RateLimitStoreClass,
  type RateLimitStoreOptions,
} from '@sluice/drop-in/fastify-rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, onTestFinished, test } from 'vitest';

/** A class of stores on a clock that stands still. */
function still(options: RateLimitStoreOptions = {}): { readonly store: RateLimitStoreClass; readonly time: FakeTime } {
  const time = new FakeTime();
  return { store: rateLimitStore({ time, log: false, ...options }), time };
}

/** An application of @fastify/rate-limit. */
async function served(store: RateLimitStoreClass, options: RateLimitPluginOptions = {}): Promise<FastifyInstance> {
  const app = Fastify();
  onTestFinished(() => app.close());
  await app.register(fastifyRateLimit, { max: 3, timeWindow: '1 minute', ...options, store });
  app.get('/', () => 'hello');
  app.get('/strict', { config: { rateLimit: { max: 1 } } }, () => 'hello');
  return app;
}

async function statuses(app: FastifyInstance, count: number, url = '/'): Promise<number[]> {
  const all: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (let i = 0; i < count; i++) all.push((await app.inject(url)).statusCode);
  return all;
}

describe('behind @fastify/rate-limit', () => {
  test('max requests pass at once, and then one for each part of the window', async () => {
    const { store, time } = still();
    const app = await served(store);
    expect(await statuses(app, 4)).toEqual([200, 200, 200, 429]);
    time.advance(19_999);
    expect(await statuses(app, 1)).toEqual([429]);
    time.advance(1);
    expect(await statuses(app, 2)).toEqual([200, 429]);
  });

  test('the fields have what is left, the time to a full bucket, and the exact wait', async () => {
    const app = await served(still().store);
    const { headers: first } = await app.inject('/');
    expect(first).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '20' });
    await statuses(app, 2);
    expect((await app.inject('/')).headers).toMatchObject({ 'retry-after': '20', 'x-ratelimit-remaining': '0' });
  });

  test('each route with numbers of its own has its own buckets', async () => {
    const app = await served(still().store);
    expect(await statuses(app, 2, '/strict')).toEqual([200, 429]);
    expect(await statuses(app, 4)).toEqual([200, 200, 200, 429]);
  });

  test('each handler has its own buckets, whatever its numbers, and none has those of the global limit', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(fastifyRateLimit, { max: 3, timeWindow: '1 minute', store: still().store });
    const numbers = { max: 2, timeWindow: '1 minute' };
    for (const url of ['/login', '/code'])
      app.get(url, { config: { rateLimit: false }, preHandler: app.rateLimit(numbers) }, () => 'hello');
    const [checked, other] = [app.createRateLimit(numbers), app.createRateLimit({ ...numbers, max: 20 })];
    app.get('/checked', { config: { rateLimit: false } }, async (req) => [await checked(req), await other(req)]);
    app.get('/', () => 'hello');
    expect(await statuses(app, 3, '/login')).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/code')).toEqual([200, 200, 429]);
    expect((await app.inject('/checked')).json()).toMatchObject([{ remaining: 1 }, { remaining: 19 }]);
    expect(await statuses(app, 4)).toEqual([200, 200, 200, 429]);
  });

  test('registrations of other numbers have buckets of their own, and those of equal ones share', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    const { store } = still();
    for (const [url, max] of [
      ['/site', 4],
      ['/login', 2],
      ['/more', 4],
    ] as const)
      await app.register(async (scope) => {
        await scope.register(fastifyRateLimit, { max, timeWindow: '1 minute', store });
        scope.get(url, () => 'hello');
      });
    expect(await statuses(app, 3, '/login')).toEqual([200, 200, 429]);
    expect(await statuses(app, 3, '/site')).toEqual([200, 200, 200]);
    expect(await statuses(app, 2, '/more')).toEqual([200, 429]);
  });

  test('the routes of a group have their buckets together', async () => {
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(fastifyRateLimit, { global: false, store: still().store });
    for (const [url, groupId] of [
      ['/send', 'code'],
      ['/again', 'code'],
      ['/other', 'other'],
    ] as const)
      app.get(url, { config: { rateLimit: { max: 3, timeWindow: '1 minute', groupId } } }, () => 'hello');
    expect(await statuses(app, 2, '/send')).toEqual([200, 200]);
    expect(await statuses(app, 2, '/again')).toEqual([200, 429]);
    expect(await statuses(app, 4, '/other')).toEqual([200, 200, 200, 429]);
  });

  test('numbers may be functions of the request, also at the same time', async () => {
    const app = await served(still().store, {
      max: (req) => (req.headers['x-plan'] === 'pro' ? 5 : 2),
      timeWindow: () => 60_000,
      keyGenerator: (req) => String(req.headers['x-plan']),
    });
    const plans = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'pro' : 'free'));
    const answers = await Promise.all(plans.map((plan) => app.inject({ url: '/', headers: { 'x-plan': plan } })));
    const passed = plans.filter((_, i) => answers[i]!.statusCode === 200);
    expect(passed.toSorted()).toEqual(['free', 'free', 'pro', 'pro', 'pro', 'pro', 'pro']);
  });

  test('a request can be read without being counted', async () => {
    const app = await served(still().store, { global: false });
    const limiter = app.createRateLimit();
    app.get('/read', async (req) => ({ ...(await limiter(req, { increment: false })) }));
    app.get('/taken', async (req) => ({ ...(await limiter(req)) }));
    expect((await app.inject('/read')).json()).toMatchObject({ remaining: 3, ttl: 0 });
    expect((await app.inject('/taken')).json()).toMatchObject({ remaining: 2, ttl: 20_000 });
    expect((await app.inject('/read')).json()).toMatchObject({ remaining: 2, ttl: 20_000 });
  });

  test('a look reports that the next request is denied, so a login that counts failures stops after max of them', async () => {
    const { store, time } = still();
    const app = Fastify();
    onTestFinished(() => app.close());
    await app.register(fastifyRateLimit, { global: false, store });
    const limiter = app.createRateLimit({ max: 3, timeWindow: '1 minute' });
    app.get('/login', async (req, reply) => {
      const status = await limiter(req, { increment: false });
      if ('isExceeded' in status && status.isExceeded) return reply.code(429).send(status);
      await limiter(req);
      return reply.code(401).send();
    });
    expect(await statuses(app, 10, '/login')).toEqual([401, 401, 401, ...Array<number>(7).fill(429)]);
    expect((await app.inject('/login')).json()).toMatchObject({ remaining: 0, ttl: 20_000 });
    time.advance(20_000);
    expect(await statuses(app, 2, '/login')).toEqual([401, 429]);
  });

  test('a look reports whether the next request is banned', async () => {
    const app = await served(still().store, { global: false });
    const limiter = app.createRateLimit({ max: 1, ban: 2 });
    app.get('/look', (req) => limiter(req, { increment: false }));
    app.get('/taken', (req) => limiter(req));
    const looks: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const { isExceeded, isBanned } = (await app.inject('/look')).json<Record<string, unknown>>();
      looks.push([isExceeded, isBanned]);
      await app.inject('/taken');
    }
    expect(looks).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ]);
  });

  test('a client is banned after so many denials', async () => {
    const app = await served(still().store, { max: 1, ban: 2 });
    expect(await statuses(app, 5)).toEqual([200, 429, 429, 403, 403]);
    expect(await statuses(await served(still().store, { max: 1, ban: 0 }), 2)).toEqual([200, 403]);
  });

  test.each(['continueExceeding', 'exponentialBackoff'])(
    '%s is an error at registration, and of a route',
    async (name) => {
      await expect(served(still().store, { [name]: true })).rejects.toThrow(`\`${name}\` must not be true`);
      const app = await served(still().store);
      expect(() => app.get('/on', { config: { rateLimit: { [name]: true } } }, () => 'hello')).toThrow('`ban`');
    },
  );
});

describe('input that can not be decided by', () => {
  const given = (key: string, timeWindow: number, max: number, { store } = still()): Promise<unknown> =>
    new Promise((resolve, reject) => {
      new store({}).incr(key, (error, state) => (error === null ? resolve(state) : reject(error)), timeWindow, max);
    });

  test.each([
    ['a window of 0', 0, 3, 'timeWindow'],
    ['a negative window', -1, 3, 'timeWindow'],
    ['a window of NaN', Number.NaN, 3, 'timeWindow'],
    ['a max of NaN', 1000, Number.NaN, 'max'],
  ])('%s is an error', async (_what, timeWindow, max, option) => {
    await expect(given('k', timeWindow, max)).rejects.toThrow(`\`${option}\` must be a number`);
  });

  test('a max below 1 denies, and fractions and windows below a second are decided as they are', async () => {
    expect(await given('k', 1000, 0)).toEqual({ current: 1, ttl: 1000 });
    expect(await given('k', 1000, -2)).toEqual({ current: 1, ttl: 1000 });
    expect(await given('k', 1.5, 2.5)).toEqual({ current: 1, ttl: 1 });
  });

  test('requests without a key count together, with one warning, and keys of 10 MB are keys like others', async () => {
    const events: LimiterEvent[] = [];
    const made = still({ store: memoryStore(), onEvent: (event) => void events.push(event) });
    for (const key of ['', undefined]) await given(key as string, 1000, 3, made);
    expect(await given('', 1000, 3, made)).toMatchObject({ current: 3 });
    expect(events).toMatchObject([{ type: 'warning' }]);
    expect(await given('x'.repeat(10_000_000), 1000, 3, made)).toMatchObject({ current: 1 });
  });
});
