import { accountId, ipAddress, memoryStore, type Key } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, stillLimiter, thenable, timed, userKey, userOf } from '../limiters.ts';
import { start } from '../start.ts';

/** Which limits a request meets, and what it costs there. */
export function limitCases(framework: Framework): void {
  test('two numbers are enough: one limit named default, by client network, in memory', async () => {
    const app = await start(framework, { limits: [{ count: 2, period: '1m' }] });
    const { headers } = await app.get();
    expect(headers['ratelimit-policy']).toBe('"default";q=2;w=60');
    expect(await app.statuses(2)).toEqual([200, 429]);
  });

  test('each inline limit has buckets of its own', async () => {
    const app = await start(framework, {
      routes: {
        '/a': { limits: [{ count: 1, period: '1m' }] },
        '/b': { limits: [{ count: 1, period: '1m' }] },
      },
    });
    expect(await app.statuses(2, '/a')).toEqual([200, 429]);
    expect(await app.statuses(2, '/b')).toEqual([200, 429]);
  });

  test('an inline limit takes burst, key, cost and overrides', async () => {
    const app = await start(framework, {
      limits: [
        {
          name: 'PerUser',
          key: userKey,
          burst: 4,
          count: 1,
          period: '1m',
          cost: 2,
          overrides: { root: 'unlimited', bob: { burst: 2, count: 1, period: '1m' } },
          store: timed().store,
        },
      ],
    });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
    expect(await app.statuses(2, '/', as('bob'))).toEqual([200, 429]);
    expect(await app.statuses(4, '/', as('root'))).toEqual([200, 200, 200, 200]);
  });

  test('a limiter with one limit needs no names', async () => {
    const app = await start(framework, {
      limits: [{ limiter: stillLimiter({ limits: { Only: { key: ipAddress(), count: 1, period: '1m' } } }) }],
    });
    expect(await app.statuses(2)).toEqual([200, 429]);
  });

  test('limits of one middleware are decided together: what one of them denies costs nothing at the others', async () => {
    const limiter = stillLimiter({
      limits: { Wide: { key: ipAddress(), count: 5, period: '1m' }, PerUser: { key: userKey, count: 1, period: '1m' } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', 'PerUser'] }] });
    expect(await app.statuses(4, '/', as('ann'))).toEqual([200, 429, 429, 429]);
    const { headers } = await app.get('/', as('bob'));
    expect(headers.ratelimit).toContain('"Wide";r=3');
  });

  test('a disabled limit lets every request through, sets no fields, and does not call its key', async () => {
    const broken = accountId((): string => {
      throw new Error('nobody is logged in');
    });
    const limiter = stillLimiter({
      limits: {
        Off: { key: broken, count: 1, period: '1m', disabled: true },
        On: { key: userKey, count: 2, period: '1m' },
      },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Off', 'On'] }] });
    const { headers } = await app.get('/', as('ann'));
    expect(headers['ratelimit-policy']).toBe('"On";q=2;w=60');
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
  });

  test('a shared limiter has one bucket for all routes, and each route its own cost', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 10, period: '1m' } } });
    const app = await start(framework, {
      routes: {
        '/cheap': { limits: [{ limiter }] },
        '/dear': { limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 6 }] }] },
        '/free': { limits: [{ limiter, limits: [{ limit: 'PerUser', cost: 0 }] }] },
      },
    });
    expect((await app.get('/cheap', as('ann'))).headers.ratelimit).toContain('r=9');
    expect((await app.get('/dear', as('ann'))).headers.ratelimit).toContain('r=3');
    expect((await app.get('/dear', as('ann'))).status).toBe(429);
    expect((await app.get('/free', as('ann'))).headers.ratelimit).toContain('r=3');
    expect(await app.statuses(4, '/cheap', as('ann'))).toEqual([200, 200, 200, 429]);
    expect((await app.get('/free', as('ann'))).status).toBe(200);
  });

  test('two limiters on one route both count', async () => {
    const app = await start(framework, {
      routes: {
        '/': {
          limits: [
            { name: 'PerAddress', count: 4, period: '1m', store: timed().store },
            { name: 'PerUser', key: userKey, count: 2, period: '1m', store: timed().store },
          ],
        },
      },
    });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
    expect(await app.statuses(2, '/', as('bob'))).toEqual([200, 429]);
  });

  test('a cost function is called for each request, and may be async', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 10, period: '1m' } } });
    const cost = ({ headers }: { headers: object }) => Number((headers as Record<string, string>)['x-items']);
    const app = await start(framework, {
      routes: {
        '/now': { limits: [{ limiter, limits: [{ limit: 'PerUser', cost }] }] },
        '/later': { limits: [{ limiter, limits: [{ limit: 'PerUser', cost: async (request) => cost(request) }] }] },
      },
    });
    expect((await app.get('/now', as('ann', { 'X-Items': '3' }))).headers.ratelimit).toContain('r=7');
    expect((await app.get('/later', as('ann', { 'X-Items': '5' }))).headers.ratelimit).toContain('r=2');
    expect((await app.get('/later', as('ann', { 'X-Items': '3' }))).status).toBe(429);
  });

  test('a cost above the burst is a 400 for the error handler, and counts at the limits beside it', async () => {
    const limiter = stillLimiter({
      limits: { Wide: { key: ipAddress(), count: 9, period: '1m' }, PerUser: { key: userKey, count: 2, period: '1m' } },
    });
    const dear = { limit: 'PerUser', cost: () => 3 };
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', dear] }] });
    expect((await app.get('/', as('ann'))).status).toBe(400);
    expect(app.errors).toMatchObject([{ code: 'ERR_COST_OVER_BURST', status: 400 }]);
    const { results } = await limiter.check([
      { limit: 'PerUser', id: 'ann' },
      { limit: 'Wide', id: '127.0.0.1' },
    ]);
    expect(results.map(({ remaining }) => remaining)).toEqual([2, 8]);
  });

  test.each([-1, 0.5, NaN, Infinity, '3', undefined, null])(
    'a cost function that gives %o is an error, and the request is not admitted',
    async (cost) => {
      const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 2, period: '1m' } } });
      const limits = [{ limit: 'PerUser', cost: () => cost as number }];
      const app = await start(framework, { limits: [{ limiter, limits }] });
      expect((await app.get('/', as('ann'))).status).toBe(500);
      expect(app.errors).toMatchObject([{ code: 'ERR_COST' }]);
    },
  );

  test.each([
    ['at once', userKey],
    ['later', accountId(async (request: NativeRequest) => userOf(request))],
  ])(
    'an id of null that is returned %s: the limit does not apply to the request, and sets no fields',
    async (_when, key) => {
      let asked = 0;
      const cost = (): number => (asked++, 1);
      const limiter = stillLimiter({ limits: { PerUser: { key, count: 1, period: '1m' } } });
      const app = await start(framework, {
        limits: [{ limiter, limits: [{ limit: 'PerUser', cost }] }],
        routes: { '/': { handle: ({ decision }) => `${decision?.allowed} ${decision?.limit}` } },
      });
      expect(await app.statuses(3)).toEqual([200, 200, 200]);
      const { headers, body } = await app.get();
      expect(headers).not.toHaveProperty('ratelimit');
      expect(headers).not.toHaveProperty('ratelimit-policy');
      expect(body).toBe('true null');
      expect(asked).toBe(0);
    },
  );

  test.each([
    ['undefined', () => undefined],
    ["''", () => ''],
    ['NaN', () => NaN],
    ['a fraction', () => 1.5],
    ['true', () => true],
    ['a symbol', () => Symbol('id')],
    ['an object', () => ({ id: 'ann' })],
    ['an array', () => ['ann']],
    ['a function', () => () => 'ann'],
    ['a promise of undefined', () => Promise.resolve(undefined)],
    ["a promise of ''", () => Promise.resolve('')],
    ['a promise of an object', () => Promise.resolve({})],
    ['control characters', () => 'ann\n'],
    ['257 characters', () => 'a'.repeat(257)],
  ])('an id that is %s is an error for the error handler, never a bucket that strangers share', async (_what, from) => {
    const key = userKeyFrom(from as never);
    const app = await start(framework, {
      limits: [{ name: 'PerUser', key, count: 1, period: '1m', store: memoryStore() }],
    });
    expect((await app.get()).status).toBeGreaterThanOrEqual(400);
    expect((await app.get()).status).not.toBe(429);
    expect(app.errors).toHaveLength(2);
    expect(app.errors[0]).toMatchObject({ name: 'SluiceError', code: expect.stringMatching(/^ERR_(KEY|ID)$/) });
  });

  test.each([
    ['undefined', () => undefined],
    ["''", () => ''],
    ['a number', () => 7],
    ['a promise of undefined', async () => undefined],
    ["a promise of ''", async () => ''],
  ])('an id of a key made by hand that is %s is an error, and the request is not admitted', async (_what, idOf) => {
    const key = { ...userKey, idOf } as unknown as Key<NativeRequest>;
    const app = await start(framework, {
      limits: [{ name: 'PerUser', key, count: 5, period: '1m', store: memoryStore() }],
    });
    expect((await app.get()).status).toBe(500);
    expect(app.errors).toMatchObject([{ name: 'SluiceError', code: 'ERR_ID' }]);
  });

  test.each([
    ['an async function', async (user: string | null) => user],
    ['a thenable', (user: string | null) => thenable((done) => done(user))],
    ['a function of bigints', (user: string | null) => BigInt(user!.length)],
    ['a function of numbers', (user: string | null) => user!.length],
  ])('users do not share a bucket when the id comes from %s', async (_what, from) => {
    const key = userKeyFrom((request) => from(userOf(request)) as never);
    const app = await start(framework, {
      limits: [{ name: 'PerUser', key, count: 1, period: '1m', store: memoryStore() }],
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(await app.statuses(2, '/', as('berta'))).toEqual([200, 429]);
  });

  test('a key falls back to another one where it gives null, in a key space of its own', async () => {
    const key = userKey.or(ipAddress());
    const app = await start(framework, {
      limits: [{ name: 'PerUser', key, count: 1, period: '1m', store: memoryStore() }],
    });
    expect(await app.statuses(2)).toEqual([200, 429]);
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect(await app.statuses(1, '/', as('127.0.0.1'))).toEqual([200]);
    expect((await app.get('/', as('ipAddress:127.0.0.1'))).status).toBe(400);
  });

  test('a limit may be used in another mode: spend-only never denies', async () => {
    const limiter = stillLimiter({ limits: { PerUser: { key: userKey, count: 1, period: '1m' } } });
    const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'PerUser', mode: 'spend-only' }] }] });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 200]);
    expect((await limiter.check([{ limit: 'PerUser', id: 'ann' }])).allowed).toBe(false);
  });
}

function userKeyFrom(from: Parameters<typeof accountId<NativeRequest>>[0]): Key<NativeRequest> {
  return accountId(from);
}
