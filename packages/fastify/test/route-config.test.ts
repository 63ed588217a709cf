import { accountId, createLimiter } from '@sluice/core';
import type { FastifyRequest, InjectOptions } from 'fastify';
import { describe, expect, test } from 'vitest';
import { appWith, limiterOf, remaining, statuses } from './app.ts';

describe('config.rateLimit', () => {
  test("a route's limits replace those of the plugin", async () => {
    const limiter = limiterOf({ Global: 5, Orders: 2 });
    const app = await appWith({ limiter, limits: ['Global'] });
    app.get('/', () => 'ok');
    app.post('/orders', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
    expect(await statuses(app, 3, { method: 'POST', url: '/orders' })).toEqual([200, 200, 429]);
    expect(await remaining(limiter, 'Global')).toBe(5);
    expect(await statuses(app, 1)).toEqual([200]);
    expect(await remaining(limiter, 'Global')).toBe(4);
  });

  test("a route's cost applies to the plugin's limits, and to its own limits without a cost", async () => {
    const limiter = limiterOf({ Global: 10, A: 10, B: 10 });
    const app = await appWith({ limiter, limits: ['Global'] });
    app.get('/dear', { config: { rateLimit: { cost: 4 } } }, () => 'ok');
    app.get('/asked', { config: { rateLimit: { cost: (request) => Number(request.headers['x-cost']) } } }, () => 'ok');
    app.get('/own', { config: { rateLimit: { limits: ['A', { limit: 'B', cost: 2 }], cost: 5 } } }, () => 'ok');
    await app.inject('/dear');
    expect(await remaining(limiter, 'Global')).toBe(6);
    await app.inject({ url: '/asked', headers: { 'x-cost': '3' } });
    expect(await remaining(limiter, 'Global')).toBe(3);
    await app.inject('/own');
    expect([await remaining(limiter, 'A'), await remaining(limiter, 'B')]).toEqual([5, 8]);
  });

  test("a route's share applies to the plugin's limits, and to its own limits without a share", async () => {
    const limiter = limiterOf({ Global: 10, A: 10, B: 10 });
    const app = await appWith({ limiter, limits: [{ limit: 'Global', share: 0.5 }] });
    const left = ({ rateLimit: decision }: FastifyRequest) => decision!.results.map(({ remaining: r }) => r);
    app.get('/', left);
    app.get('/critical', { config: { rateLimit: { share: 1 } } }, left);
    app.get('/asked', { config: { rateLimit: { share: (request) => Number(request.headers['x-share']) } } }, left);
    app.get(
      '/own',
      { config: { rateLimit: { limits: ['A', { limit: 'B', share: 0.4 }], share: 0.2, cost: 2 } } },
      left,
    );
    expect((await app.inject('/')).json()).toEqual([4]);
    expect((await app.inject('/critical')).json()).toEqual([8]);
    expect((await app.inject({ url: '/asked', headers: { 'x-share': '0.7' } })).json()).toEqual([4]);
    expect((await app.inject('/own')).json()).toEqual([0, 2]);
  });

  test("a route's skip replaces that of the plugin", async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }), skip: () => true });
    app.get('/', () => 'ok');
    app.get('/strict', { config: { rateLimit: { skip: () => false } } }, () => 'ok');
    expect(await statuses(app, 3)).toEqual([200, 200, 200]);
    expect(await statuses(app, 2, '/strict')).toEqual([200, 429]);
  });

  test("without a skip of its own a route keeps the plugin's", async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }), skip: () => true });
    app.get('/', { config: { rateLimit: { cost: 1 } } }, () => 'ok');
    expect(await statuses(app, 2)).toEqual([200, 200]);
  });

  test('false disables the limits of a route', async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }) });
    app.get('/health', { config: { rateLimit: false } }, () => 'ok');
    expect(await statuses(app, 3, '/health')).toEqual([200, 200, 200]);
  });

  test.each(['preValidation', 'preHandler'] as const)('a route may be limited later: %s', async (hook) => {
    const key = accountId(
      (request: FastifyRequest) => (request.body as { user?: string } | undefined)?.user ?? 'early',
    );
    const limiter = createLimiter<FastifyRequest>({ limits: { PerUser: { key, count: 1, period: '1m' } } });
    const app = await appWith({ limiter });
    let handled = 0;
    app.post('/', { config: { rateLimit: { hook } } }, () => `${++handled}`);
    const login = (user: string): InjectOptions => ({ method: 'POST', url: '/', payload: { user } });
    expect(await statuses(app, 2, login('ann'))).toEqual([200, 429]);
    expect(await statuses(app, 2, login('bob'))).toEqual([200, 429]);
    expect(await remaining(limiter, 'PerUser', 'early')).toBe(1);
    expect(handled).toBe(2);
  });

  test("a route's own hooks run after its limits of the same phase", async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }) });
    let looked = 0;
    const look = async (): Promise<void> => void looked++;
    app.get('/one', { config: { rateLimit: { hook: 'preHandler' } }, preHandler: look }, () => 'ok');
    app.get('/many', { config: { rateLimit: { hook: 'preHandler' } }, preHandler: [look, look] }, () => 'ok');
    expect(await statuses(app, 2, '/one')).toEqual([200, 429]);
    expect(looked).toBe(1);
    expect(await statuses(app, 1, '/many')).toEqual([429]);
    expect(looked).toBe(1);
  });

  test.each(['onRequest', 'preValidation', 'preHandler'] as const)(
    'a HEAD request counts once at a route: %s',
    async (hook) => {
      const limiter = limiterOf({ Global: 5 });
      const app = await appWith({ limiter });
      app.get('/', { config: { rateLimit: { hook } } }, () => 'ok');
      await app.inject({ method: 'HEAD', url: '/' });
      expect(await remaining(limiter, 'Global')).toBe(4);
    },
  );

  test('global: false does not limit routes without a config, nor 404s', async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }), global: false });
    app.get('/', () => 'ok');
    app.get('/limited', { config: { rateLimit: {} } }, () => 'ok');
    expect(await statuses(app, 3)).toEqual([200, 200, 200]);
    expect(await statuses(app, 2, '/nowhere')).toEqual([404, 404]);
    expect(await statuses(app, 2, '/limited')).toEqual([200, 429]);
  });

  test('limits that no registration knows fail when the server gets ready', async () => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }) });
    app.get('/a', { config: { rateLimit: { limits: ['Orders', { limit: 'Global' }] } } }, () => 'ok');
    await expect(app.ready()).rejects.toThrow(/\/a .*Orders, Global/);
  });

  test('limits of a config that two servers share fail in the one that does not know them', async () => {
    const config = { rateLimit: { limits: ['Orders'] } };
    const knowing = await appWith({ limiter: limiterOf({ Orders: 1 }) });
    const other = await appWith({ limiter: limiterOf({ Global: 1 }) });
    for (const app of [knowing, other]) app.get('/a', { config }, () => 'ok');
    expect(await statuses(knowing, 2, '/a')).toEqual([200, 429]);
    await expect(other.ready()).rejects.toMatchObject({ code: 'ERR_UNKNOWN_LIMIT' });
  });

  test('two routes of one server may share a config', async () => {
    const config = { rateLimit: { limits: ['Orders'] } };
    const app = await appWith(
      { limiter: limiterOf({ Global: 1 }), global: false },
      { limiter: limiterOf({ Orders: 2 }) },
    );
    app.get('/a', { config }, () => 'ok');
    app.get('/b', { config }, () => 'ok');
    expect([...(await statuses(app, 1, '/a')), ...(await statuses(app, 2, '/b'))]).toEqual([200, 200, 429]);
  });

  test.each([
    ['true', true, 'ERR_OPTION', 'config.rateLimit'],
    ['null', null, 'ERR_OPTION', 'config.rateLimit'],
    ['an unknown option', { max: 1 }, 'ERR_UNKNOWN_OPTION', '`count`'],
    ['an unknown hook', { hook: 'onSend' }, 'ERR_OPTION', 'config.rateLimit.hook'],
    ['a skip that is no function', { skip: true }, 'ERR_OPTION', 'config.rateLimit.skip'],
    ['a cost above the burst', { cost: 2 }, 'ERR_COST_OVER_BURST', 'at most 1'],
    ['a share of nothing', { share: 0 }, 'ERR_OPTION', 'above 0'],
    ['no limits', { limits: [] }, 'ERR_OPTION', 'at least one limit'],
    ['limits as a text', { limits: 'Global' }, 'ERR_OPTION', 'at least one limit'],
    ['a limit that is null', { limits: [null] }, 'ERR_OPTION', 'but was null'],
    ['a limit without a name', { limits: [{ cost: 1 }] }, 'ERR_UNKNOWN_LIMIT', 'undefined'],
  ])('a wrong one fails when the route is defined: %s', async (_what, rateLimitOfRoute, code, says) => {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }) });
    const define = (): unknown => app.get('/', { config: { rateLimit: rateLimitOfRoute as never } }, () => 'ok');
    expect(define).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }));
  });
});
