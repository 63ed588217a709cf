import { rateLimit } from '@sluice/fastify';
import { fastify } from 'fastify';
import { describe, expect, test } from 'vitest';
import { appWith, limiterOf, remaining, statuses } from './app.ts';

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
