import { accountId, createLimiter, memoryStore } from '@sluice/core';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify, type FastifyRequest, type InjectOptions } from 'fastify';
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
    ['numbers', { count: 1, period: '1m' }, 'ERR_UNKNOWN_OPTION', 'createLimiter'],
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

describe('several registrations', () => {
  test('of one limiter each decide what they name', async () => {
    const limiter = limiterOf({ A: 5, B: 3 });
    const app = await appWith({ limiter, limits: ['A'] }, { limiter, limits: ['B'] });
    app.get('/', () => 'ok');
    await app.inject('/');
    expect([await remaining(limiter, 'A'), await remaining(limiter, 'B')]).toEqual([4, 2]);
  });

  test('of different limiters both count', async () => {
    const [one, other] = [limiterOf({ A: 5 }), limiterOf({ B: 3 })];
    const app = await appWith({ limiter: one }, { limiter: other });
    app.get('/', (request) => request.rateLimit?.results.map(({ limit }) => limit));
    expect((await app.inject('/')).json()).toEqual(['A', 'B']);
    expect([await remaining(one, 'A'), await remaining(other, 'B')]).toEqual([4, 2]);
  });

  test("a route's limits are spent once, by the registration that knows them", async () => {
    const [one, other] = [limiterOf({ A: 5 }), limiterOf({ B: 3, Orders: 2 })];
    const app = await appWith({ limiter: one }, { limiter: other, limits: ['B'] }, { limiter: other, limits: ['B'] });
    app.get('/', { config: { rateLimit: { limits: ['Orders'] } } }, () => 'ok');
    expect(await statuses(app, 3)).toEqual([200, 200, 429]);
    expect([await remaining(one, 'A'), await remaining(other, 'B')]).toEqual([5, 3]);
  });

  test('at different hooks each decide once', async () => {
    const limiter = limiterOf({ PerAddress: 5, PerUser: 5 });
    const app = await appWith(
      { limiter, limits: ['PerAddress'] },
      { limiter, limits: ['PerUser'], hook: 'preHandler' },
    );
    app.get('/', () => 'ok');
    await app.inject('/');
    expect([await remaining(limiter, 'PerAddress'), await remaining(limiter, 'PerUser')]).toEqual([4, 4]);
  });

  test('in a context apply only there', async () => {
    const limiter = limiterOf({ Everywhere: 9, Inside: 1 });
    const app = await appWith({ limiter, limits: ['Everywhere'] });
    await app.register(async (child) => {
      await child.register(rateLimit, { limiter, limits: ['Inside'] });
      child.get('/inside', () => 'ok');
    });
    app.get('/outside', () => 'ok');
    expect(await statuses(app, 2, '/inside')).toEqual([200, 429]);
    expect(await statuses(app, 3, '/outside')).toEqual([200, 200, 200]);
    expect(await remaining(limiter, 'Everywhere')).toBe(4);
  });

  test('limits that only another context knows fail when the server gets ready', async () => {
    const app = fastify();
    await app.register(async (child) => {
      await child.register(rateLimit, { limiter: limiterOf({ Inside: 1 }) });
    });
    await app.register(rateLimit, { limiter: limiterOf({ Global: 1 }) });
    app.get('/', { config: { rateLimit: { limits: ['Inside'] } } }, () => 'ok');
    await expect(app.ready()).rejects.toThrow('Inside');
  });
});

describe('routes defined before the plugin', () => {
  test('are limited, and so are contexts', async () => {
    const app = fastify();
    app.get('/early', () => 'ok');
    await app.register(async (child) => void child.get('/child', () => 'ok'));
    await app.register(rateLimit, { limiter: limiterOf({ Global: 1 }) });
    expect(await statuses(app, 1, '/early')).toEqual([200]);
    expect(await statuses(app, 1, '/child')).toEqual([429]);
  });

  test('have their own limits and costs', async () => {
    const limiter = limiterOf({ Global: 5, Orders: 4 });
    const app = fastify();
    app.get('/early', { config: { rateLimit: { limits: ['Orders'], cost: 2 } } }, () => 'ok');
    app.get('/open', { config: { rateLimit: false } }, () => 'ok');
    await app.register(rateLimit, { limiter, limits: ['Global'] });
    expect(await statuses(app, 3, '/early')).toEqual([200, 200, 429]);
    expect((await app.inject('/open')).headers).not.toHaveProperty('ratelimit');
    expect(await remaining(limiter, 'Global')).toBe(5);
  });

  test.each([
    ['another hook', { hook: 'preHandler' }, 'ERR_OPTION', 'another hook'],
    ['limits that nobody knows', { limits: ['Orders'] }, 'ERR_UNKNOWN_LIMIT', 'other limits'],
    ['an unknown option', { max: 1 }, 'ERR_UNKNOWN_OPTION', '`count`'],
  ])('are never open: %s is an error of each request', async (_what, rateLimitOfRoute, code, says) => {
    const app = fastify();
    app.get('/early', { config: { rateLimit: rateLimitOfRoute as never } }, () => 'ok');
    await app.register(rateLimit, { limiter: limiterOf({ Global: 5 }) });
    const answer = await app.inject('/early');
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toMatchObject({ code, message: expect.stringContaining(says) });
  });
});

test('a route defined before the plugin is never open, also when another server knows the limits of its config', async () => {
  const config = { rateLimit: { limits: ['Orders'] } };
  const knowing = fastify();
  const other = fastify();
  for (const app of [knowing, other]) app.get('/early', { config }, () => 'ok');
  await knowing.register(rateLimit, { limiter: limiterOf({ Orders: 1 }) });
  await other.register(rateLimit, { limiter: limiterOf({ Global: 1 }) });
  expect(await statuses(knowing, 2, '/early')).toEqual([200, 429]);
  const answer = await other.inject('/early');
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ code: 'ERR_UNKNOWN_LIMIT' });
});

test('404s are limited with a handler of their own too', async () => {
  const app = await appWith({ limiter: limiterOf({ Global: 1 }) });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send('nowhere'));
  expect(await statuses(app, 2, '/nowhere')).toEqual([404, 429]);
});

test('the decision is on the request, and undefined where no limit was used', async () => {
  const app = await appWith({ limiter: limiterOf({ Global: 5 }) });
  app.get('/', (request) => ({ remaining: request.rateLimit?.remaining }));
  app.get('/open', { config: { rateLimit: false } }, (request) => ({ rateLimit: typeof request.rateLimit }));
  expect((await app.inject('/')).json()).toEqual({ remaining: 4 });
  expect((await app.inject('/open')).json()).toEqual({ rateLimit: 'undefined' });
});

test('an onDenied may answer by itself, or give back the reply', async () => {
  const answers: NonNullable<RateLimitOptions['onDenied']>[] = [
    (_request, reply) => void reply.code(420).send('own'),
    (_request, reply) => reply.code(420).send('own'),
    async (_request, reply) => reply.code(420).send('own'),
    (_request, reply) => (reply.code(420), 'own'),
    (_request, reply) => {
      setImmediate(() => void reply.code(420).send('own'));
      return reply;
    },
  ];
  for (const onDenied of answers) {
    const app = await appWith({ limiter: limiterOf({ Global: 1 }), onDenied });
    app.get('/', () => 'ok');
    await app.inject('/');
    const { statusCode, body, headers } = await app.inject('/');
    expect({ statusCode, body }).toEqual({ statusCode: 420, body: 'own' });
    expect(headers['retry-after']).toBe('60');
  }
});

test('a reply that was sent before is left as it is', async () => {
  const app = fastify();
  app.addHook('onRequest', (_request, reply, next) => {
    void reply.send('first');
    next();
  });
  await app.register(rateLimit, { limiter: limiterOf({ Global: 1 }) });
  app.get('/', () => 'second');
  expect((await app.inject('/')).body).toBe('first');
  expect((await app.inject('/')).body).toBe('first');
});

test('a reply that was sent while the key was looked up is left unchanged, also when the request is denied', async () => {
  const app = fastify();
  let sent: Promise<unknown> = Promise.resolve();
  let found = 0;
  const key = accountId(async () => {
    await sent;
    found++;
    return 'ann';
  });
  app.addHook('onRequest', (_request, reply, next) => {
    sent = new Promise((resolve) => reply.raw.once('finish', resolve));
    setImmediate(() => void reply.send('first'));
    next();
  });
  await app.register(rateLimit, { name: 'PerUser', key, count: 1, period: '1m', store: memoryStore() });
  app.get('/', (_request, reply) => reply);
  expect((await app.inject('/')).body).toBe('first');
  expect((await app.inject('/')).body).toBe('first');
  await expect.poll(() => found).toBe(2);
});

test.each([
  ['an unknown hook', { hook: 'onSend' }, 'ERR_OPTION', "'onRequest' or 'preValidation' or 'preHandler'"],
  ['a global that is no boolean', { global: 'no' }, 'ERR_OPTION', '`global` must be true or false'],
  ['no limit', { limits: ['Orders'] }, 'ERR_UNKNOWN_LIMIT', 'Global'],
])('registering fails with the reason: %s', async (_what, options, code, says) => {
  const app = fastify();
  const registered = app.register(rateLimit, { limiter: limiterOf({ Global: 1 }), ...(options as object) });
  await expect(registered).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
});

test('an answer of onDenied after the response has begun ends the response', async () => {
  const app = fastify();
  let requests = 0;
  app.addHook('onRequest', (_request, reply, next) => {
    if (++requests > 1) reply.raw.writeHead(200).write('begun');
    next();
  });
  await app.register(rateLimit, { limiter: limiterOf({ Global: 1 }), onDenied: () => 'too late' });
  app.get('/', () => 'ok');
  expect((await app.inject('/')).body).toBe('ok');
  const { statusCode, body } = await app.inject('/');
  expect([statusCode, body]).toEqual([200, 'begun']);
});

test('a request of inject is limited and settled', async () => {
  const limiter = limiterOf({ Global: 6 });
  const ends: unknown[] = [];
  const app = await appWith({
    limiter,
    limits: [{ limit: 'Global', cost: 3, settle: (_request, _reply, end) => (ends.push(end), 1) }],
  });
  app.get('/', () => 'ok');
  expect((await app.inject('/')).statusCode).toBe(200);
  await expect.poll(() => remaining(limiter, 'Global')).toBe(5);
  expect(ends).toEqual([{ finished: true }]);
});
