import { expect, onTestFinished, test, vi } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** What a request is answered that must not go on. */
export function denialCases(framework: Framework): void {
  const limits = { PerUser: { key: userKey, count: 1, period: '1m' } };

  test('a denied request is answered with problem details that name the limit', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }) }] });
    await app.get('/', as('ann'));
    const { status, headers, body } = await app.get('/', as('ann'));
    expect(status).toBe(429);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(headers['content-length']).toBe(String(body.length));
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: 'Rate limit "PerUser" exceeded. Try again in 60 seconds.',
      'violated-policies': ['PerUser'],
    });
  });

  test('with jitter the problem details have the same seconds as Retry-After', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }), retryJitter: 0.03 }] });
    // Not earlier: Nest draws random names in advance when an application starts.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    await app.get('/', as('ann'));
    const { headers, body } = await app.get('/', as('ann'));
    expect(headers['retry-after']).toBe('61');
    expect(JSON.parse(body).detail).toBe('Rate limit "PerUser" exceeded. Try again in 61 seconds.');
  });

  test('a denial is not cached', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }) }] });
    expect((await app.get('/', as('ann'))).headers).not.toHaveProperty('cache-control');
    expect((await app.get('/', as('ann'))).headers['cache-control']).toBe('no-store');
  });

  test('a denial never contains the limited id', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }) }] });
    await app.get('/', as('ann-4711'));
    const { rawHeaders, body } = await app.get('/', as('ann-4711'));
    expect(rawHeaders.join() + body).not.toContain('ann-4711');
  });

  test('a denial names every limit that denied, and only those', async () => {
    const limiter = stillLimiter({
      limits: {
        Wide: { key: userKey, count: 9, period: '1m' },
        Narrow: { key: userKey, count: 1, period: '1s' },
        Slow: { key: userKey, count: 1, period: '1h' },
      },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', 'Narrow', 'Slow'] }] });
    await app.get('/', as('ann'));
    const problem = JSON.parse((await app.get('/', as('ann'))).body);
    expect(problem['violated-policies']).toEqual(['Narrow', 'Slow']);
    expect(problem.detail).toBe('Rate limits "Narrow" and "Slow" exceeded. Try again in 1 h.');
  });

  test.skipIf(framework.ignoresHead)('a HEAD request is denied without a body', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }) }] });
    await app.get('/', as('ann'));
    const { status, headers, body } = await app.get('/', { ...as('ann'), method: 'HEAD' });
    expect({ status, body }).toEqual({ status: 429, body: '' });
    expect(headers['retry-after']).toBe('60');
  });

  test('a denied request does not reach the handler', async () => {
    let handled = 0;
    const app = await start(framework, {
      limits: [{ limiter: stillLimiter({ limits }) }],
      routes: { '/': { handle: () => `${++handled}` } },
    });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 429, 429]);
    expect(handled).toBe(1);
  });

  test('a store that answers later gives the same answers', async () => {
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits, store: lateStore() }) }] });
    const allowed = await app.get('/', as('ann'));
    expect(allowed.status).toBe(200);
    expect(allowed.headers.ratelimit).toBe('"PerUser";r=0;t=60');
    const denied = await app.get('/', as('ann'));
    expect(denied.status).toBe(429);
    expect(denied.headers['retry-after']).toBe('60');
    expect(JSON.parse(denied.body).status).toBe(429);
  });

  test('a store that can not answer a closed limit is a 503 with Retry-After and without figures', async () => {
    const closed = { PerUser: { ...limits.PerUser, onFailure: 'closed' } } as const;
    let handled = 0;
    const app = await start(framework, {
      limits: [{ limiter: stillLimiter({ limits: closed, store: brokenStore() }) }],
      routes: { '/': { handle: () => `${++handled}` } },
    });
    const { status, headers, body } = await app.get('/', as('ann'));
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('1');
    expect(headers['content-type']).toBe('application/problem+json');
    expect(headers['cache-control']).toBe('no-store');
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: 'Temporarily unavailable',
      status: 503,
      detail: 'Rate limiting is temporarily unavailable. Try again in 1 second.',
    });
    expect(handled).toBe(0);
  });

  test('a path without a route is limited too', async () => {
    const app = await start(framework, { limits: [{ name: 'All', count: 2, period: '1m', store: timed().store }] });
    expect(await app.statuses(3, '/nowhere')).toEqual([404, 404, 429]);
  });

  test('a 404 reports the limits', async () => {
    const app = await start(framework, { limits: [{ name: 'All', count: 2, period: '1m', store: timed().store }] });
    expect((await app.get('/nowhere')).headers.ratelimit).toBe('"All";r=1;t=30');
  });

  test('a response that ends in an error reports the limits', async () => {
    const app = await start(framework, {
      limits: [{ name: 'All', count: 2, period: '1m', store: timed().store }],
      routes: {
        '/': {
          handle() {
            throw Object.assign(new Error('teapot'), { status: 418, statusCode: 418, expose: true });
          },
        },
      },
    });
    const { status, headers } = await app.get();
    expect(status).toBe(418);
    expect(headers['ratelimit-policy']).toBe('"All";q=2;w=60');
    expect(headers.ratelimit).toBe('"All";r=1;t=30');
  });
}
