import { clientNetwork, memoryStore } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify } from 'fastify';
import { describe, expect, test } from 'vitest';
import { appWith, limiterOf, statuses, userKey } from './app.ts';

const time = new FakeTime();
const minute = { period: '1m' } as const;

describe('config.rateLimit with a count and a period', () => {
  test('is a limit of the route alone, with `global: false` and nothing else', async () => {
    const app = await appWith({ global: false, time });
    app.get('/', () => 'ok');
    app.get(
      '/two',
      { config: { rateLimit: { count: 2, ...minute } } },
      ({ rateLimit: decision }) => decision?.remaining,
    );
    expect(await statuses(app, 9)).toEqual(Array(9).fill(200));
    expect((await app.inject('/two')).headers).toMatchObject({ ratelimit: '"default";r=1;t=30' });
    expect(await statuses(app, 2, '/two')).toEqual([200, 429]);
    expect((await app.inject('/')).headers['ratelimit']).toBeUndefined();
    expect(await statuses(app, 1, '/missing')).toEqual([404]);
  });

  test.each<[string, RateLimitOptions]>([
    ['a registration without limits', { global: false }],
    ['a registration with a limit of its own', { count: 1, ...minute }],
  ])('under names of @fastify/rate-limit is told ours, on %s', async (_what, options) => {
    const app = await appWith(options);
    const route = { config: { rateLimit: { max: 5, timeWindow: '1 minute' } as never } };
    const define = () => app.get('/two', route, () => 'ok');
    expect(define).toThrow('`config.rateLimit` has no option `max` (its value was 5). `max` is `count` here');
    expect(define).toThrow("`timeWindow` is `period` here, e.g. period: '1m'.");
    expect(define).not.toThrow('createLimiter');
  });

  test('replaces the limit of the plugin', async () => {
    const app = await appWith({ count: 1, ...minute, time });
    app.get('/', () => 'ok');
    app.get('/two', { config: { rateLimit: { count: 2, ...minute } } }, () => 'ok');
    expect(await statuses(app, 3, '/two')).toEqual([200, 200, 429]);
    expect(await statuses(app, 2)).toEqual([200, 429]);
  });

  test('counts for each route by itself, also with one config for several, and for HEAD with GET', async () => {
    const app = await appWith({ global: false, time });
    const config = { rateLimit: { count: 2, ...minute } };
    app.get('/a', { config }, () => 'ok');
    app.get('/b', { config }, () => 'ok');
    expect(await statuses(app, 1, { method: 'HEAD', url: '/a' })).toEqual([200]);
    expect(await statuses(app, 2, '/a')).toEqual([200, 429]);
    expect(await statuses(app, 3, '/b')).toEqual([200, 200, 429]);
  });

  test('has the key, the skip and the fields of the plugin, unless it has its own', async () => {
    const skip = (request: { readonly headers: object }): boolean => 'x-health' in request.headers;
    const app = await appWith({ global: false, key: userKey, skip, fields: 'legacy', time });
    app.get('/', { config: { rateLimit: { count: 1, ...minute } } }, () => 'ok');
    app.get('/own', { config: { rateLimit: { count: 1, ...minute, skip: () => false, fields: false } } }, () => 'ok');
    const as = (user: string, url = '/') => ({ url, headers: { 'x-user': user, 'x-health': '1' } });
    expect((await app.inject({ url: '/', headers: { 'x-user': 'ann' } })).headers['x-ratelimit-limit']).toBe('1');
    expect(await statuses(app, 1, { url: '/', headers: { 'x-user': 'bob' } })).toEqual([200]);
    expect(await statuses(app, 2, as('ann'))).toEqual([200, 200]);
    expect(await statuses(app, 2, as('ann', '/own'))).toEqual([200, 429]);
    expect(Object.keys((await app.inject(as('bob', '/own'))).headers).join()).not.toContain('ratelimit');
  });

  test('takes every kind of limit, and its hook', async () => {
    const key = clientNetwork();
    const app = await appWith({ global: false });
    app.get(
      '/slots',
      { config: { rateLimit: { limit: concurrency({ key, concurrency: 1 }), slotsUntil: 'handler' } } },
      async () => 'ok',
    );
    app.get(
      '/month',
      { config: { rateLimit: { limit: quota({ key, count: 1, per: 'month' }), hook: 'preHandler' } } },
      () => 'ok',
    );
    expect(await statuses(app, 2, '/slots')).toEqual([200, 200]);
    expect(await statuses(app, 2, '/month')).toEqual([200, 429]);
  });

  test('is in the store of the plugin under its name', async () => {
    const store = memoryStore({ time });
    const app = await appWith({ global: false, store, time });
    app.get('/', { config: { rateLimit: { name: 'Home', count: 1, ...minute } } }, () => 'ok');
    await app.inject('/');
    expect(Object.keys(store.stats().limits)).toEqual(['Home']);
    const nameless = await appWith({ global: false, store, time });
    expect(() => nameless.get('/', { config: { rateLimit: { count: 1, ...minute } } }, () => 'ok')).toThrow(
      /`name` must be given with a store/,
    );
  });

  test('is decided after the limits of a registration with `always`, and named apart from them', async () => {
    const app = await appWith({ count: 3, ...minute, always: true, time });
    app.get('/', { config: { rateLimit: { count: 9, ...minute } } }, () => 'ok');
    expect((await app.inject('/')).headers['ratelimit-policy']).toBe('"default";q=3;w=60, "default-2";q=9;w=60');
    expect(await statuses(app, 3)).toEqual([200, 200, 429]);
  });

  test('with a typo is an error when the route is defined', async () => {
    const app = await appWith({ global: false });
    const config = { rateLimit: { cuont: 1, ...minute } } as never;
    expect(() => app.get('/', { config }, () => 'ok')).toThrow(/no option `cuont`.*Did you mean `count`\?/);
  });

  test('beside a limiter is an error at the start, which says where to define it', async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 5 }) });
    app.get('/', { config: { rateLimit: { count: 1, ...minute } } }, () => 'ok');
    await expect(app.ready()).rejects.toThrow(/registered with a limiter\. Define the limit there, and name it/);
  });

  test('without numbers, and without limits of the plugin, is an error at the start', async () => {
    const app = await appWith({ global: false });
    app.get('/', { config: { rateLimit: { cost: 2 } } }, () => 'ok');
    await expect(app.ready()).rejects.toThrow(/registered without limits\. Write config: \{ rateLimit: \{ count/);
  });
});

describe('a route with limits that nothing decides', () => {
  const warningsOf = async (define: () => PromiseLike<unknown>): Promise<string[]> => {
    const warnings: string[] = [];
    const listen = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', listen);
    await define();
    // Warnings are emitted in the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    return warnings.filter((message) => message.includes('config.rateLimit'));
  };
  const config = { rateLimit: { count: 1, ...minute } };

  test('is warned of when the plugin is not registered', async () => {
    const app = fastify();
    app.get('/orders', { config }, () => 'ok');
    expect(await warningsOf(() => app.ready())).toEqual([
      'The route /orders has a config.rateLimit, but rateLimit of @sluice/fastify is not registered where it is defined, so it has no limits. ' +
        'Register it before the route: await app.register(rateLimit, { global: false }).',
    ]);
  });

  test('is warned of when the plugin is registered beside it', async () => {
    const app = fastify();
    app.register(async (child) => child.register(rateLimit, { count: 1, ...minute }));
    app.register(async (child) => child.get('/beside', { config }, () => 'ok'));
    expect(await warningsOf(() => app.ready())).toEqual([expect.stringContaining('The route /beside')]);
  });

  test('is not warned of below or before a registration, nor with the options of another plugin', async () => {
    const app = fastify();
    app.get('/other', { config: { rateLimit: { max: 1, timeWindow: '1 minute' } as never } }, () => 'ok');
    app.get('/early', { config }, () => 'ok');
    await app.register(rateLimit, { global: false });
    app.register(async (child) => child.get('/below', { config }, () => 'ok'));
    expect(await warningsOf(() => app.ready())).toEqual([]);
  });
});
