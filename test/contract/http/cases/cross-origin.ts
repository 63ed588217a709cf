import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { timed } from '../limiters.ts';
import { start } from '../start.ts';

/** Requests of scripts from other origins. */
export function crossOriginCases(framework: Framework): void {
  const limit = () => ({ name: 'All', count: 1, period: '1m', store: timed().store }) as const;
  const preflight = {
    method: 'OPTIONS',
    headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
  };

  test('a preflight is not limited', async () => {
    const app = await start(framework, { limits: [limit()] });
    const { status, headers } = await app.get('/', preflight);
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('ratelimit');
    expect(await app.statuses(2, '/', preflight)).toEqual([200, 200]);
    expect(await app.statuses(2)).toEqual([200, 429]);
  });

  test.each([
    ['without Origin', { 'Access-Control-Request-Method': 'POST' }],
    ['without Access-Control-Request-Method', { Origin: 'https://app.example' }],
  ])('an OPTIONS request that is not a preflight is limited: %s', async (_what, headers) => {
    const app = await start(framework, { limits: [limit()] });
    expect(await app.statuses(2, '/', { method: 'OPTIONS', headers })).toEqual([200, 429]);
  });

  test('another method with the headers of a preflight is limited', async () => {
    const app = await start(framework, { limits: [limit()] });
    expect(await app.statuses(2, '/', { headers: preflight.headers })).toEqual([200, 429]);
  });

  test('limitPreflight limits preflights too', async () => {
    const app = await start(framework, { limits: [{ ...limit(), limitPreflight: true }] });
    expect(await app.statuses(2, '/', preflight)).toEqual([200, 429]);
  });

  const allowed = 'Access-Control-Allow-Origin';
  const exposed = 'Access-Control-Expose-Headers';
  test.each([
    { cors: {}, exposes: undefined },
    { cors: { [allowed]: '*' }, exposes: 'RateLimit, RateLimit-Policy, Retry-After' },
    { cors: { [allowed]: '*', [exposed]: 'ETag' }, exposes: 'ETag, RateLimit, RateLimit-Policy, Retry-After' },
    { cors: { [allowed]: '*', [exposed]: '*' }, exposes: '*' },
    {
      cors: { [allowed]: '*', [exposed]: 'ratelimit,RETRY-AFTER' },
      exposes: 'ratelimit,RETRY-AFTER, RateLimit-Policy',
    },
    {
      cors: { [allowed]: '*', [exposed]: 'RateLimit, RateLimit-Policy, Retry-After' },
      exposes: 'RateLimit, RateLimit-Policy, Retry-After',
    },
  ])('scripts may read the fields where the response is for them: $cors', async ({ cors, exposes }) => {
    const app = await start(framework, {
      before({ set }) {
        for (const [name, value] of Object.entries(cors)) set(name, value);
      },
      limits: [limit()],
    });
    expect((await app.get()).headers['access-control-expose-headers']).toBe(exposes);
    expect((await app.get()).headers['access-control-expose-headers']).toBe(exposes);
  });

  test('without RateLimit fields scripts may read Retry-After of what was denied', async () => {
    const app = await start(framework, {
      before: ({ set }) => set(allowed, '*'),
      limits: [{ ...limit(), fields: false }],
    });
    expect((await app.get()).headers).not.toHaveProperty('access-control-expose-headers');
    expect((await app.get()).headers['access-control-expose-headers']).toBe('Retry-After');
  });

  test('an answer that ends in an error exposes the fields too', async () => {
    const app = await start(framework, {
      before: ({ set }) => set(allowed, '*'),
      limits: [limit()],
      routes: { '/': { handle: () => Promise.reject(new Error('boom')) } },
    });
    const { status, headers } = await app.get();
    expect(status).toBe(500);
    expect(headers['access-control-expose-headers']).toBe('RateLimit, RateLimit-Policy, Retry-After');
  });
}
