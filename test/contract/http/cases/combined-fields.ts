import { everyone } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Header fields beside those of other middlewares. */
export function combinedFieldCases(framework: Framework): void {
  test('fields are appended to those that are already set', async () => {
    const app = await start(framework, {
      before({ set }) {
        set('RateLimit-Policy', '"Gateway";q=100;w=60');
        set('RateLimit', '"Gateway";r=50;t=1');
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
    });
    expect((await app.get()).headers).toMatchObject({
      'ratelimit-policy': '"Gateway";q=100;w=60, "Requests";q=10;w=60',
      ratelimit: '"Gateway";r=50;t=1, "Requests";r=9;t=6',
    });
  });

  test.each([
    { there: '"Requests";r=2;t=1', kept: '"Requests";r=2;t=1', policy: '"Requests";q=100;w=60' },
    { there: '"Requests";r=9;t=30', kept: '"Requests";r=9;t=30', policy: '"Requests";q=100;w=60' },
    { there: '"Requests";r=9', kept: '"Requests";r=9;t=6', policy: '"Requests";q=10;w=60' },
    { there: '"Requests";r=50;t=30', kept: '"Requests";r=9;t=6', policy: '"Requests";q=10;w=60' },
  ])('a name is listed once, and the stricter state is kept: $there', async ({ there, kept, policy }) => {
    const app = await start(framework, {
      before({ set }) {
        set('RateLimit-Policy', '"Requests";q=100;w=60');
        set('RateLimit', there);
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
    });
    const { headers } = await app.get();
    expect(headers.ratelimit).toBe(kept);
    expect(headers['ratelimit-policy']).toBe(policy);
  });

  test.each([
    { there: '120', waits: '120' },
    { there: '60', waits: '60' },
    { there: '59', waits: '60' },
    { there: 'Wed, 21 Oct 2026 07:28:00 GMT', waits: '60' },
  ])('of two waits the longer is reported: $there is already set', async ({ there, waits }) => {
    const app = await start(framework, {
      before: ({ set }) => set('Retry-After', there),
      limits: [{ name: 'Requests', count: 1, period: '1m', store: timed().store }],
    });
    await app.get();
    const { status, headers } = await app.get();
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe(waits);
  });

  test('two middlewares list each of their limits once, and on a 429 only those that denied', async () => {
    const app = await start(framework, {
      limits: [
        { name: 'Wide', count: 10, period: '1m', store: timed().store },
        { name: 'Narrow', count: 1, period: '1m', store: timed().store },
      ],
    });
    const allowed = (await app.get()).headers;
    expect(allowed.ratelimit).toBe('"Wide";r=9;t=6, "Narrow";r=0;t=60');
    const denied = (await app.get()).headers;
    expect(denied.ratelimit).toBe('"Narrow";r=0;t=60');
    expect(denied['ratelimit-policy']).toBe('"Wide";q=10;w=60, "Narrow";q=1;w=60');
  });

  test('a denial after another middleware adds its policies, and the states of the limits that denied', async () => {
    const limiter = stillLimiter({
      limits: { Open: { key: userKey, count: 9, period: '1m' }, Narrow: { key: userKey, count: 1, period: '1m' } },
    });
    const app = await start(framework, {
      limits: [
        { name: 'First', count: 5, period: '1m', store: timed().store },
        { limiter, limits: ['Open', 'Narrow'] },
      ],
    });
    await app.get('/', as('ann'));
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      ratelimit: '"Narrow";r=0;t=60',
      'ratelimit-policy': '"First";q=5;w=60, "Open";q=9;w=60, "Narrow";q=1;w=60',
    });
  });

  test('two middlewares without a name are two policies, in the fields and in the body', async () => {
    const { time } = timed();
    const options = { key: everyone(), period: '1h', time } as const;
    const app = await start(framework, {
      limits: [
        { ...options, count: 10 },
        { ...options, count: 2 },
        { ...options, count: 30 },
      ],
    });
    expect((await app.get()).headers).toMatchObject({
      'ratelimit-policy': '"default";q=10;w=3600, "default-2";q=2;w=3600, "default-3";q=30;w=3600',
      ratelimit: '"default";r=9;t=360, "default-2";r=1;t=1800, "default-3";r=29;t=120',
    });
    await app.get();
    const denied = await app.get();
    expect(denied.status).toBe(429);
    expect(denied.headers).toMatchObject({
      'ratelimit-policy': '"default";q=10;w=3600, "default-2";q=2;w=3600',
      ratelimit: '"default-2";r=0;t=1800',
    });
    expect(JSON.parse(denied.body)).toMatchObject({
      detail: expect.stringContaining('Rate limit "default-2" exceeded.'),
      'violated-policies': ['default-2'],
    });
  });

  test('two middlewares without a name and with the same numbers are one policy', async () => {
    const options = { count: 10, period: '1m', key: everyone() } as const;
    const app = await start(framework, { limits: [options, options] });
    expect((await app.get()).headers['ratelimit-policy']).toBe('"default";q=10;w=60');
  });

  test('each field is one line of the response, also with several middlewares', async () => {
    const options = { count: 10, period: '1m' } as const;
    const app = await start(framework, {
      limits: [
        { name: 'A', ...options },
        { name: 'B', ...options },
      ],
    });
    const names = (await app.get()).rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase());
    expect(names.filter((name) => name.startsWith('ratelimit'))).toHaveLength(2);
  });
}
