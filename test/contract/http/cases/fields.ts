import { FakeTime } from '@sluice/core/testing';
import { parseItem, parseList } from 'structured-headers';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, brokenStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** The fields that tell clients their limits. */
export function fieldCases(framework: Framework): void {
  test('an allowed request is told its policy and what remains', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
    });
    const { status, headers } = await app.get();
    expect(status).toBe(200);
    expect(headers['ratelimit-policy']).toBe('"Requests";q=10;w=60');
    expect(headers.ratelimit).toBe('"Requests";r=9;t=6');
    expect(headers).not.toHaveProperty('retry-after');
  });

  test('a denied request is told when to come back', async () => {
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

  test('several limits are all told in the order given; on a 429 only the states of those that denied', async () => {
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

  const draft7 = { ratelimit: 'limit=2, remaining=1, reset=30', 'ratelimit-policy': '2;w=60' };
  const draft6 = {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '30',
    'ratelimit-policy': '2;w=60',
  };

  test('draft 7 tells limit, remaining and reset in one field', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', fields: 'draft-7', store: timed().store }],
    });
    expect((await app.get()).headers).toMatchObject(draft7);
    await app.get();
    const { headers } = await app.get();
    expect(headers).toMatchObject({ ratelimit: 'limit=2, remaining=0, reset=30', 'retry-after': '30' });
  });

  test('draft 6 tells limit, remaining and reset in a field each', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', fields: 'draft-6', store: timed().store }],
    });
    const { headers } = await app.get();
    expect(headers).toMatchObject(draft6);
    expect(headers).not.toHaveProperty('ratelimit');
    await app.get();
    expect((await app.get()).headers).toMatchObject({ ...draft6, 'ratelimit-remaining': '0', 'retry-after': '30' });
  });

  test('the legacy fields tell the reset as seconds since 1970', async () => {
    const time = new FakeTime();
    time.setWall(Date.parse('2026-07-01T12:00:00Z'));
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', fields: 'legacy', time }],
    });
    const { headers } = await app.get();
    const reset = { 'x-ratelimit-reset': String(1_782_907_200 + 30) };
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', ...reset });
    expect(headers).not.toHaveProperty('ratelimit');
  });

  test('fields: false sets none of them, and Retry-After all the same', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 1, period: '1m', fields: false, store: timed().store }],
    });
    const allowed = await app.get();
    const denied = await app.get();
    expect(Object.keys({ ...allowed.headers, ...denied.headers }).filter((name) => /ratelimit/.test(name))).toEqual([]);
    expect(allowed.headers).not.toHaveProperty('retry-after');
    expect(denied.headers['retry-after']).toBe('60');
  });

  test.each([
    { count: 7, period: '1s', cost: 1 },
    { burst: 20, count: 1000, period: '1s', cost: 3 },
    { burst: 1, count: 3, period: '10s', cost: 1 },
    { burst: 5, count: 3, period: '7s', cost: 5 },
    { burst: 30, count: 7, period: '13m', cost: 4 },
  ])(
    'a client that waits exactly Retry-After is not denied, and it is never 0: $burst, $count per $period',
    async (limit) => {
      const { time, store } = timed();
      const app = await start(framework, { limits: [{ name: 'Requests', ...limit, store }] });
      for (let denials = 0; denials < 3;) {
        const { status, headers } = await app.get();
        if (status === 200) continue;
        denials++;
        const seconds = Number(headers['retry-after']);
        expect(seconds).toBeGreaterThanOrEqual(1);
        time.advance(seconds * 1000);
        expect((await app.get()).status).toBe(200);
      }
    },
  );

  test.each([
    { count: 7, period: '1s' },
    { burst: 2, count: 3, period: '10s' },
    { burst: 12, count: 5, period: '1m' },
  ])('a client that keeps to q per w is never denied: $burst, $count per $period', async (limit) => {
    const { time, store } = timed();
    const app = await start(framework, { limits: [{ name: 'Requests', ...limit, store }] });
    for (let window = 0; window < 4; window++) {
      const { status, headers } = await app.get();
      const [, parameters] = parseList(headers['ratelimit-policy'] as string)[0]!;
      const [q, w] = [parameters.get('q') as number, parameters.get('w') as number];
      expect([status, ...(await app.statuses(q - 1))]).toEqual(Array(q).fill(200));
      time.advance(w * 1000);
    }
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

  test('an override is told by its own numbers', async () => {
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

  test('fields are appended to those that are there', async () => {
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
    { there: '"Requests";r=2;t=1', stays: '"Requests";r=2;t=1', policy: '"Requests";q=100;w=60' },
    { there: '"Requests";r=9;t=30', stays: '"Requests";r=9;t=30', policy: '"Requests";q=100;w=60' },
    { there: '"Requests";r=9', stays: '"Requests";r=9;t=6', policy: '"Requests";q=10;w=60' },
    { there: '"Requests";r=50;t=30', stays: '"Requests";r=9;t=6', policy: '"Requests";q=10;w=60' },
  ])('a name is listed once, and the stricter stays: $there', async ({ there, stays, policy }) => {
    const app = await start(framework, {
      before({ set }) {
        set('RateLimit-Policy', '"Requests";q=100;w=60');
        set('RateLimit', there);
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', store: timed().store }],
    });
    const { headers } = await app.get();
    expect(headers.ratelimit).toBe(stays);
    expect(headers['ratelimit-policy']).toBe(policy);
  });

  test.each([
    { fields: 'draft-11', before: { RateLimit: 'limit=5, remaining=4, reset=1', 'RateLimit-Policy': '5;w=60' } },
    { fields: 'draft-11', before: { RateLimit: 'limit=5, remaining=4, reset=1' } },
    { fields: 'draft-11', before: { 'RateLimit-Policy': '5;w=60' } },
    { fields: 'draft-7', before: { RateLimit: '"Gateway";r=4;t=1', 'RateLimit-Policy': '"Gateway";q=5;w=60' } },
    { fields: 'draft-6', before: { 'RateLimit-Policy': '"Gateway";q=5;w=60' } },
  ] as const)('no field ever speaks two dialects: $fields after $before', async ({ fields, before }) => {
    const app = await start(framework, {
      before({ set }) {
        for (const [name, value] of Object.entries(before)) set(name, value);
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', fields, store: timed().store }],
    });
    const { headers } = await app.get();
    for (const [name, value] of Object.entries(before)) expect(headers[name.toLowerCase()]).toBe(value);
  });

  test('of two middlewares in draft 7 the stricter figures are told, and every policy', async () => {
    const one = { name: 'One', fields: 'draft-7', store: timed().store } as const;
    const other = { name: 'Other', fields: 'draft-7', store: timed().store } as const;
    const app = await start(framework, {
      limits: [{ ...one, count: 3, period: '1m' }, { ...other, count: 10, period: '1m' }], // prettier-ignore
    });
    expect((await app.get()).headers).toMatchObject({
      ratelimit: 'limit=3, remaining=2, reset=20',
      'ratelimit-policy': '3;w=60, 10;w=60',
    });
  });

  test.each(['draft-6', 'legacy'] as const)(
    'of two middlewares in %s the stricter figures are told',
    async (fields) => {
      const app = await start(framework, {
        limits: [
          { name: 'One', count: 10, period: '1m', fields, store: timed().store },
          { name: 'Other', count: 3, period: '1m', fields, store: timed().store },
          { name: 'Third', count: 20, period: '1m', fields, store: timed().store },
        ],
      });
      const prefix = fields === 'legacy' ? 'x-ratelimit' : 'ratelimit';
      const { headers } = await app.get();
      expect(headers).toMatchObject({ [`${prefix}-limit`]: '3', [`${prefix}-remaining`]: '2' });
    },
  );

  test('of several limits a dialect with one set of figures tells those of the strictest', async () => {
    const limiter = stillLimiter({
      limits: { Wide: { key: userKey, count: 9, period: '1m' }, Narrow: { key: userKey, count: 3, period: '1m' } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', 'Narrow'], fields: 'draft-7' }] });
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      ratelimit: 'limit=3, remaining=2, reset=20',
      'ratelimit-policy': '9;w=60, 3;w=60',
    });
  });

  test('a refusal tells its own figures, whatever an earlier middleware told', async () => {
    const app = await start(framework, {
      limits: [
        { name: 'One', count: 2, period: '1m', fields: 'draft-7', store: timed().store },
        { name: 'Other', count: 1, period: '1h', fields: 'draft-7', store: timed().store },
      ],
    });
    await app.get();
    const { headers } = await app.get();
    expect(headers).toMatchObject({ ratelimit: 'limit=1, remaining=0, reset=3600', 'retry-after': '3600' });
  });

  test.each([
    { there: '120', told: '120' },
    { there: '60', told: '60' },
    { there: '59', told: '60' },
    { there: 'Wed, 21 Oct 2026 07:28:00 GMT', told: '60' },
  ])('of two waits the longer is told: $there that is there', async ({ there, told }) => {
    const app = await start(framework, {
      before: ({ set }) => set('Retry-After', there),
      limits: [{ name: 'Requests', count: 1, period: '1m', store: timed().store }],
    });
    await app.get();
    const { status, headers } = await app.get();
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe(told);
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

  test('a refusal after another middleware adds its policies, and the states of those that denied', async () => {
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

  test('of two inline limits with one name the stricter is told', async () => {
    const one = { count: 5, period: '1m' };
    const app = await start(framework, { limits: [{ count: 9, period: '1m' }, one, { count: 7, period: '1m' }] });
    expect((await app.get()).headers).toMatchObject({
      ratelimit: '"default";r=4;t=12',
      'ratelimit-policy': '"default";q=5;w=60',
    });
  });

  test('each field is one line of the answer, also with several middlewares', async () => {
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

  test('no figures are told of a store that did not count: under local and open requests pass without fields', async () => {
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

  test('under local what is denied is told when to come back, and no figures', async () => {
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
