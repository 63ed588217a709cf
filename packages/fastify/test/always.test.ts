import { accountId, createLimiter } from '@sluice/core';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify, type FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { appWith, limiterOf, remaining, statuses, userKey } from './app.ts';

const names = (request: FastifyRequest): readonly string[] | undefined =>
  request.rateLimit?.results.map(({ limit }) => limit);

describe('a registration with always: true', () => {
  test('applies at a route with limits of its own: first always, then those of the route', async () => {
    const limiter = limiterOf({ Flood: 3, Orders: 2 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, names);
    const first = await app.inject('/');
    expect(first.json()).toEqual(['Flood', 'Orders']);
    expect(first.headers.ratelimit).toBe('"Flood";r=2;t=20, "Orders";r=1;t=30');
    expect(first.headers['ratelimit-policy']).toBe('"Flood";q=3;w=60, "Orders";q=2;w=60');
    const [, denied] = [await app.inject('/'), await app.inject('/')];
    expect(denied.statusCode).toBe(429);
    expect(denied.headers.ratelimit).toBe('"Orders";r=0;t=30');
    // What the route denies has counted for the flood limit, and what this denies does not count for the route.
    expect(await remaining(limiter, 'Flood')).toBe(0);
    await limiter.reset([{ limit: 'Orders', id: 'nobody' }]);
    expect((await app.inject('/')).headers.ratelimit).toBe('"Flood";r=0;t=20');
    expect(await remaining(limiter, 'Orders')).toBe(2);
  });

  test('applies at a route with rateLimit: false, at routes without a config, and at 404s', async () => {
    const app = await appWith({ limiter: limiterOf({ Flood: 3 }), always: true });
    app.get('/', () => 'ok');
    app.get('/free', { config: { rateLimit: false } }, () => 'ok');
    expect(await statuses(app, 1, '/nowhere')).toEqual([404]);
    expect(await statuses(app, 2, '/free')).toEqual([200, 200]);
    expect([...(await statuses(app, 1)), ...(await statuses(app, 1, '/nowhere'))]).toEqual([429, 429]);
  });

  test('is skipped by its own skip, for example for health checks; a route can not skip it', async () => {
    const app = await appWith({
      limiter: limiterOf({ Flood: 1, Orders: 9 }),
      limits: ['Flood'],
      always: true,
      skip: (request) => request.url === '/health',
    });
    app.get('/health', { config: { rateLimit: false } }, () => 'ok');
    app.get('/orders', { config: { rateLimit: { limits: ['Orders'], skip: () => true } } }, () => 'ok');
    expect(await statuses(app, 3, '/health')).toEqual([200, 200, 200]);
    expect(await statuses(app, 2, '/orders')).toEqual([200, 429]);
  });

  test('does not change with the cost of a route, which is for the other registrations and the route', async () => {
    const limiter = limiterOf({ Flood: 9, Global: 9, Orders: 9 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true }, { limiter, limits: ['Global'] });
    app.get('/dear', { config: { rateLimit: { cost: 4 } } }, () => 'ok');
    app.get('/own', { config: { rateLimit: { limits: ['Orders'], cost: 5 } } }, () => 'ok');
    await app.inject('/dear');
    expect([await remaining(limiter, 'Flood'), await remaining(limiter, 'Global')]).toEqual([8, 5]);
    await app.inject('/own');
    expect(await Promise.all(['Flood', 'Global', 'Orders'].map((name) => remaining(limiter, name)))).toEqual([7, 5, 4]);
  });

  test('leaves the limits of a route to another registration of the limiter, at the hook of that one', async () => {
    const limiter = limiterOf({ Flood: 9, PerUser: 9, Orders: 9 });
    const order: string[] = [];
    const onDecision: RateLimitOptions['onDecision'] = ({ limit }) => void order.push(String(limit));
    const app = await appWith(
      { limiter, limits: ['Flood'], always: true, onDecision },
      { limiter, limits: ['PerUser'], hook: 'preHandler', onDecision },
    );
    app.addHook('preValidation', async () => void order.push('authenticated'));
    app.get('/orders', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
    app.get('/', () => 'ok');
    await app.inject('/orders');
    await app.inject('/');
    expect(order).toEqual(['Flood', 'authenticated', 'Orders', 'Flood', 'authenticated', 'PerUser']);
  });

  test('decides the limits of a route at the hook that the route names', async () => {
    const limiter = limiterOf({ Flood: 9, Orders: 1 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    const order: string[] = [];
    app.addHook('preValidation', async (request) => void order.push(...names(request)!));
    app.get('/', { config: { rateLimit: { limits: ['Orders'], hook: 'preHandler' } } }, names);
    expect((await app.inject('/')).json()).toEqual(['Flood', 'Orders']);
    expect(order).toEqual(['Flood']);
    expect(await statuses(app, 1)).toEqual([429]);
  });

  test('of a parent applies in its contexts, before their own registrations', async () => {
    const limiter = limiterOf({ Flood: 9, Inside: 9, Orders: 9 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    await app.register(async (child) => {
      await child.register(rateLimit, { limiter, limits: ['Inside'] });
      child.get('/inside', names);
      child.get('/orders', { config: { rateLimit: { limits: ['Orders'] } } }, names);
      child.get('/free', { config: { rateLimit: false } }, names);
    });
    const met = async (url: string): Promise<unknown> => (await app.inject(url)).json();
    expect([await met('/inside'), await met('/orders'), await met('/free')]).toEqual([
      ['Flood', 'Inside'],
      ['Flood', 'Orders'],
      ['Flood'],
    ]);
  });

  test('of another limiter leaves the limits of a route to the one that knows them', async () => {
    const [flood, orders] = [limiterOf({ Flood: 9 }), limiterOf({ Global: 9, Orders: 9 })];
    const app = await appWith({ limiter: flood, always: true }, { limiter: orders, limits: ['Global'] });
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, names);
    expect((await app.inject('/')).json()).toEqual(['Flood', 'Orders']);
  });

  test('beside another one with always: each decides its own, and the limits of a route are decided once', async () => {
    const limiter = limiterOf({ Flood: 9, Second: 9, Orders: 9 });
    const app = await appWith(
      { limiter, limits: ['Flood'], always: true },
      { limiter, limits: ['Second'], always: true },
    );
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, names);
    expect((await app.inject('/')).json()).toEqual(['Flood', 'Second', 'Orders']);
    expect(await remaining(limiter, 'Orders')).toBe(8);
  });

  test('applies at routes that were defined before it', async () => {
    const limiter = limiterOf({ Flood: 9, Orders: 1 });
    const app = fastify();
    app.get('/early', { config: { rateLimit: { limits: ['Orders'] } } }, names);
    app.get('/free', { config: { rateLimit: false } }, names);
    app.get('/dear', { config: { rateLimit: { cost: 4 } } }, names);
    await app.register(rateLimit, { limiter, limits: ['Flood'], always: true });
    expect((await app.inject('/early')).json()).toEqual(['Flood', 'Orders']);
    expect(await statuses(app, 1, '/early')).toEqual([429]);
    expect((await app.inject('/free')).json()).toEqual(['Flood']);
    expect((await app.inject('/dear')).json()).toEqual(['Flood']);
  });

  test('and another registration of its limiter decide the limits of a route that was defined before them once', async () => {
    const limiter = limiterOf({ Flood: 9, Global: 9, Orders: 9 });
    const app = fastify();
    app.get('/early', { config: { rateLimit: { limits: ['Orders'] } } }, names);
    await app.register(rateLimit, { limiter, limits: ['Flood'], always: true });
    await app.register(rateLimit, { limiter, limits: ['Global'] });
    expect((await app.inject('/early')).json()).toEqual(['Flood', 'Orders']);
  });

  test('counts a HEAD request once at each limit', async () => {
    const limiter = limiterOf({ Flood: 9, Orders: 9 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
    await app.inject({ method: 'HEAD', url: '/' });
    expect([await remaining(limiter, 'Flood'), await remaining(limiter, 'Orders')]).toEqual([8, 8]);
  });

  test.each([
    ['at once', userKey],
    ['later', accountId(async (request: FastifyRequest) => Promise.resolve(String(request.headers['x-user'])))],
  ])('hands on an error of the limits of a route, when its own were decided %s', async (_when, key) => {
    const broken = accountId((): string => {
      throw new Error('no user');
    });
    const limiter = createLimiter<FastifyRequest>({
      limits: { Flood: { key, count: 9, period: '1m' }, Orders: { key: broken, count: 9, period: '1m' } },
      log: false,
    });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
    const answer = await app.inject({ url: '/', headers: { 'x-user': 'nobody' } });
    expect([answer.statusCode, answer.json().message]).toEqual([500, 'no user']);
    expect(await remaining(limiter, 'Flood')).toBe(8);
  });
});

describe('wrong use of always is an error:', () => {
  test('a route that names a limit which always applies anyway', async () => {
    const limiter = limiterOf({ Flood: 9, Orders: 9 });
    const app = await appWith({ limiter, limits: ['Flood'], always: true });
    const define = (): unknown =>
      app.get('/', { config: { rateLimit: { limits: ['Orders', { limit: 'Flood' }] } } }, () => 'ok');
    expect(define).toThrow(
      expect.objectContaining({
        code: 'ERR_DUPLICATE_BUCKET',
        message:
          '`config.rateLimit.limits` names "Flood", but a registration with `always: true` already decides it for every request. Remove it.',
      }),
    );
  });

  test('a cost for a route at which only always applies', async () => {
    const app = await appWith({ limiter: limiterOf({ Flood: 9 }), always: true });
    app.get('/a', { config: { rateLimit: { cost: 2 } } }, () => 'ok');
    await expect(app.ready()).rejects.toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringMatching(/^The route .?\/a.? has a config\.rateLimit without limits, but/),
    });
  });

  test.each([
    ['an always that is no boolean', { always: 'yes' }, '`always` must be true or false'],
    [
      'always beside global: false',
      { always: true, global: false },
      '`global` must be true or left out with `always: true`',
    ],
  ])('%s', async (_what, options, says) => {
    const app = fastify();
    const registered = app.register(rateLimit, { limiter: limiterOf({ Flood: 1 }), ...(options as object) });
    await expect(registered).rejects.toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(says) });
  });
});

test('routes of one shared config are limited each by the registration of its own context', async () => {
  const limiter = limiterOf({ Flood: 9, Inside: 9, Orders: 9 });
  const config = { rateLimit: { limits: ['Orders'] } };
  const app = await appWith({ limiter, limits: ['Flood'], always: true });
  await app.register(async (child) => {
    await child.register(rateLimit, { limiter, limits: ['Inside'], hook: 'preHandler' });
    child.get('/inside', { config }, names);
  });
  app.get('/outside', { config }, names);
  expect((await app.inject('/inside')).json()).toEqual(['Flood', 'Orders']);
  expect((await app.inject('/outside')).json()).toEqual(['Flood', 'Orders']);
  expect(await remaining(limiter, 'Orders')).toBe(7);
});

test('a route defined before a second registration keeps the limits that the first one decides', async () => {
  const [one, other] = [limiterOf({ A: 9, Orders: 1 }), limiterOf({ B: 9 })];
  const app = await appWith({ limiter: one, limits: ['A'] });
  app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
  await app.register(rateLimit, { limiter: other });
  expect(await statuses(app, 2)).toEqual([200, 429]);
  expect(await remaining(other, 'B')).toBe(9);
});
