import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Limits that decide and that clients are not told of. */
export function hiddenCases(framework: Framework): void {
  const limits = {
    Ban: { key: userKey, count: 1, period: '1h', hidden: true },
    PerUser: { key: userKey, count: 2, period: '1m' },
  };
  const ban = { limit: 'Ban', mode: 'check-only' } as const;
  const ann = { limit: 'Ban', id: 'ann' };

  const dialects = [
    ['draft-11', { ratelimit: '"PerUser";r=1;t=30', 'ratelimit-policy': '"PerUser";q=2;w=60' }],
    ['draft-7', { ratelimit: 'limit=2, remaining=1, reset=30', 'ratelimit-policy': '2;w=60' }],
    [
      'draft-6',
      { 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '30', 'ratelimit-policy': '2;w=60' },
    ],
    ['legacy', { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' }],
  ] as const;

  test.each(dialects)(
    'fields: %s reports the other limits as if the hidden one did not exist',
    async (fields, told) => {
      // Ban is the stricter one: of its one token nothing is left.
      const limiter = stillLimiter({ limits });
      const app = await start(framework, { limits: [{ limiter, limits: ['Ban', 'PerUser'], fields }] });
      const { headers } = await app.get('/', as('ann'));
      expect(headers).toMatchObject(told);
      expect(JSON.stringify(headers)).not.toContain('Ban');
    },
  );

  test.each(dialects)('fields: %s reports nothing when only a hidden limit denies', async (fields) => {
    const limiter = stillLimiter({ limits });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerUser', ban], fields }] });
    await limiter.charge([ann]);
    const { status, headers, body } = await app.get('/', as('ann'));
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('3600');
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: 'Rate limit exceeded. Try again in 1 h.',
    });
  });

  test('a denial by a hidden limit and another names only the other, with the longest wait', async () => {
    const limiter = stillLimiter({ limits });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerUser', ban] }] });
    await limiter.charge([ann, { limit: 'PerUser', id: 'ann', cost: 2 }]);
    const { headers, body } = await app.get('/', as('ann'));
    expect(headers['retry-after']).toBe('3600');
    expect(headers.ratelimit).toBe('"PerUser";r=0;t=30');
    expect(headers['ratelimit-policy']).toBe('"PerUser";q=2;w=60');
    expect(JSON.parse(body)['violated-policies']).toEqual(['PerUser']);
    expect(JSON.stringify(headers) + body).not.toContain('Ban');
  });

  test('a hidden limit alone sets no fields, and leaves those of others as they are', async () => {
    const limiter = stillLimiter({ limits });
    const app = await start(framework, {
      limits: [
        { name: 'All', count: 5, period: '1m', store: timed().store },
        { limiter, limits: [ban] },
      ],
    });
    const allowed = await app.get('/', as('ann'));
    expect(allowed.headers).toMatchObject({ ratelimit: '"All";r=4;t=12', 'ratelimit-policy': '"All";q=5;w=60' });
    await limiter.charge([ann]);
    const denied = await app.get('/', as('ann'));
    expect(denied.status).toBe(429);
    expect(denied.headers).toMatchObject({ ratelimit: '"All";r=3;t=12', 'retry-after': '3600' });
    expect(denied.headers['ratelimit-policy']).toBe('"All";q=5;w=60');
  });

  test('a handler sees a hidden limit like any other, and can charge it', async () => {
    const limiter = stillLimiter({ limits });
    const app = await start(framework, {
      limits: [{ limiter, limits: ['PerUser', ban] }],
      routes: {
        '/': {
          async handle({ decision }) {
            await decision?.charge(1, 'Ban');
            return JSON.stringify(decision?.results.map(({ limit, hidden }) => [limit, hidden]));
          },
        },
      },
    });
    expect((await app.get('/', as('ann'))).body).toBe('[["PerUser",false],["Ban",true]]');
    expect(await app.statuses(1, '/', as('ann'))).toEqual([429]);
    expect(await app.statuses(1, '/', as('bob'))).toEqual([200]);
  });

  test('a blocked id of a hidden limit is a 403 like any other', async () => {
    const limiter = stillLimiter({ limits, overrides: { Ban: { ann: 'blocked' } } });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerUser', ban] }] });
    const { status, headers, body } = await app.get('/', as('ann'));
    expect(status).toBe(403);
    expect(JSON.stringify(headers) + body).not.toContain('Ban');
  });

  test('an inline limit may be switched off', async () => {
    const inline = { name: 'Off', key: userKey, count: 1, period: '1m', store: timed().store };
    const app = await start(framework, { limits: [{ ...inline, disabled: true }] });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 200]);
  });

  test('an inline limit may be hidden', async () => {
    const inline = { name: 'Ban', key: userKey, count: 1, period: '1m', store: timed().store };
    const app = await start(framework, { limits: [{ ...inline, hidden: true }] });
    expect((await app.get('/', as('ann'))).headers).not.toHaveProperty('ratelimit');
    expect(await app.statuses(1, '/', as('ann'))).toEqual([429]);
  });
}
