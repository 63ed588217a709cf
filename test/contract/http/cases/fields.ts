import { parseItem, parseList } from 'structured-headers';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, brokenStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** The header fields that report limits to clients. */
export function fieldCases(framework: Framework): void {
  test('an allowed response reports the policy and what remains', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
    });
    const { status, headers } = await app.get();
    expect(status).toBe(200);
    expect(headers['ratelimit-policy']).toBe('"Requests";q=10;w=60');
    expect(headers.ratelimit).toBe('"Requests";r=9;t=6');
    expect(headers).not.toHaveProperty('retry-after');
  });

  test('a denial reports when to retry', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', store: timed().store }],
    });
    await app.statuses(2);
    const { status, headers } = await app.get();
    expect(status).toBe(429);
    expect(headers['ratelimit-policy']).toBe('"Requests";q=2;w=60');
    expect(headers.ratelimit).toBe('"Requests";r=0;t=30');
    expect(headers['retry-after']).toBe('30');
  });

  test('a charge that takes less than its cost reports the wait after what it took', async () => {
    const { store, time } = timed();
    const limits = [{ name: 'Bytes', count: 5, period: '50s', cost: 5, mode: 'charge' as const, store }];
    const app = await start(framework, { limits });
    expect((await app.get()).headers.ratelimit).toBe('"Bytes";r=0;t=10');
    for (const ms of [10_000, 5000, 1]) {
      time.advance(ms);
      expect((await app.get()).headers.ratelimit).toBe('"Bytes";r=0;t=10');
    }
  });

  test('RateLimit, RateLimit-Policy and Retry-After are structured fields', async () => {
    const limits = { 'A.b_c-1': { key: userKey, count: 3, period: '1h' }, B: { key: userKey, count: 1, period: '1m' } };
    const app = await start(framework, { limits: [{ limiter: stillLimiter({ limits }), limits: ['A.b_c-1', 'B'] }] });
    const allowed = (await app.get('/', as('ann'))).headers;
    expect(parseList(allowed.ratelimit as string)).toEqual([
      ['A.b_c-1', new Map([['r', 2], ['t', 1200]])], // prettier-ignore
      ['B', new Map([['r', 0], ['t', 60]])], // prettier-ignore
    ]);
    expect(parseList(allowed['ratelimit-policy'] as string)).toEqual([
      ['A.b_c-1', new Map([['q', 3], ['w', 3600]])], // prettier-ignore
      ['B', new Map([['q', 1], ['w', 60]])], // prettier-ignore
    ]);
    const denied = (await app.get('/', as('ann'))).headers;
    expect(parseList(denied.ratelimit as string)).toEqual([['B', new Map([['r', 0], ['t', 60]])]]); // prettier-ignore
    expect(parseItem(denied['retry-after'] as string)).toEqual([60, new Map()]);
  });

  test('several limits are reported in the order given; a 429 reports only the states of those that denied', async () => {
    const limiter = stillLimiter({
      limits: {
        Third: { key: userKey, count: 5, period: '1m' },
        First: { key: userKey, count: 1, period: '1m' },
        Second: { key: userKey, count: 1, period: '1h' },
      },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['First', 'Second', 'Third'] }] });
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      'ratelimit-policy': '"First";q=1;w=60, "Second";q=1;w=3600, "Third";q=5;w=60',
      ratelimit: '"First";r=0;t=60, "Second";r=0;t=3600, "Third";r=4;t=12',
    });
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      'ratelimit-policy': '"First";q=1;w=60, "Second";q=1;w=3600, "Third";q=5;w=60',
      ratelimit: '"First";r=0;t=60, "Second";r=0;t=3600',
      'retry-after': '3600',
    });
  });

  test('fields: false sets Retry-After only', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 1, period: '1m', fields: false, store: timed().store }],
    });
    const allowed = await app.get();
    const denied = await app.get();
    expect(Object.keys({ ...allowed.headers, ...denied.headers }).filter((name) => /ratelimit/.test(name))).toEqual([]);
    expect(allowed.headers).not.toHaveProperty('retry-after');
    expect(denied.headers['retry-after']).toBe('60');
  });

  test('t is the time until there is one more token', async () => {
    const { time, store } = timed();
    const app = await start(framework, { limits: [{ name: 'Requests', burst: 3, count: 1, period: '10s', store }] });
    await app.statuses(2);
    time.advance(4_000);
    expect((await app.get()).headers.ratelimit).toBe('"Requests";r=0;t=6');
    time.advance(6_000);
    expect((await app.get()).headers.ratelimit).toBe('"Requests";r=0;t=10');
  });

  test('t is left out when the bucket is full', async () => {
    const limits = { Requests: { key: userKey, count: 3, period: '1m' } };
    const app = await start(framework, {
      limits: [{ limiter: stillLimiter({ limits }), limits: [{ limit: 'Requests', mode: 'check-only' }] }],
    });
    expect((await app.get('/', as('ann'))).headers.ratelimit).toBe('"Requests";r=3');
  });

  test('w and t are left out of a bucket that fills within a second, where whole seconds would be false', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 5, period: '500ms', store: timed().store }],
    });
    const { headers } = await app.get();
    expect(headers['ratelimit-policy']).toBe('"Requests";q=5');
    expect(headers.ratelimit).toBe('"Requests";r=4');
  });

  test('an override is reported with its own numbers', async () => {
    const limiter = stillLimiter({
      limits: { Requests: { key: userKey, count: 3, period: '1m' } },
      overrides: { Requests: { ann: { count: 60, period: '1m' }, root: 'unlimited' } },
    });
    const app = await start(framework, { limits: [{ limiter }] });
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      'ratelimit-policy': '"Requests";q=60;w=60',
      ratelimit: '"Requests";r=59;t=1',
    });
    expect((await app.get('/', as('root'))).headers).not.toHaveProperty('ratelimit');
  });

  test('nothing is set after the fields were sent', async () => {
    const app = await start(framework, {
      before({ outgoing }) {
        outgoing.writeHead(200, { 'Content-Type': 'text/plain' });
        outgoing.write('streamed ');
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
      routes: {
        '/': {
          handle({ outgoing }) {
            outgoing.end('on');
            return undefined;
          },
        },
      },
    });
    const { status, body, headers } = await app.get();
    expect({ status, body }).toEqual({ status: 200, body: 'streamed on' });
    expect(headers).not.toHaveProperty('ratelimit');
    expect(app.errors).toEqual([]);
  });

  test('while the store did not count, no figures are reported: under local and open requests pass without fields', async () => {
    for (const onFailure of ['local', 'open'] as const) {
      const limiter = stillLimiter({
        limits: { Requests: { key: userKey, count: 2, period: '1m', onFailure } },
        store: brokenStore(),
      });
      const app = await start(framework, { limits: [{ limiter }] });
      const { status, headers } = await app.get('/', as('ann'));
      expect(status).toBe(200);
      expect(Object.keys(headers).filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    }
  });

  test('under local a denial reports when to retry, and no figures', async () => {
    const limiter = stillLimiter({
      limits: { Requests: { key: userKey, count: 1, period: '1m' } },
      store: brokenStore(),
    });
    const app = await start(framework, { limits: [{ limiter }] });
    await app.get('/', as('ann'));
    const { status, headers } = await app.get('/', as('ann'));
    expect(status).toBe(429);
    expect(headers).toHaveProperty('retry-after');
    expect(headers).not.toHaveProperty('ratelimit');
  });
}
