import { accountId, memoryStore } from '@sluice/core';
import { rateLimit, type RateLimitOptions } from '@sluice/fastify';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { appWith, limiterOf, remaining, statuses } from './app.ts';

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

test('rateLimit that is called, and not registered, is an error that says how to register it', () => {
  const call = rateLimit as unknown as (options: object) => void;
  expect(() => call({ count: 1, period: '1m' })).toThrow('await app.register(rateLimit, { … })');
});
