import type { Decision } from '@sluice/core';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** Ids that an override blocks. */
export function blockedCases(framework: Framework): void {
  const limits = { PerUser: { key: userKey, count: 2, period: '1m' }, Wide: { key: userKey, count: 9, period: '1m' } };
  const overrides = { PerUser: { mallory: 'blocked' } } as const;
  const limited = { limiter: stillLimiter({ limits, overrides }), limits: ['PerUser', 'Wide'] };
  const ratelimitFields = (headers: object): string[] =>
    Object.keys(headers).filter((name) => /ratelimit|retry-after/.test(name));

  test('a blocked id is answered 403 with problem details, without Retry-After and without figures', async () => {
    let handled = 0;
    const app = await start(framework, {
      before: ({ set }) => set('Access-Control-Allow-Origin', '*'),
      limits: [limited],
      routes: { '/': { handle: () => `${++handled}` } },
    });
    const { status, headers, body } = await app.get('/', as('mallory'));
    expect(status).toBe(403);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(headers['cache-control']).toBe('no-store');
    expect(JSON.parse(body)).toEqual({
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: 'The request is blocked. Sending it again will not help.',
    });
    expect(ratelimitFields(headers)).toEqual([]);
    expect(headers).not.toHaveProperty('access-control-expose-headers');
    expect(handled).toBe(0);
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
  });

  test.skipIf(framework.ignoresHead)('a blocked HEAD request is denied without a body', async () => {
    const app = await start(framework, { limits: [limited] });
    const { status, body } = await app.get('/', { ...as('mallory'), method: 'HEAD' });
    expect({ status, body }).toEqual({ status: 403, body: '' });
  });

  test.each(['draft-11', 'draft-7', 'draft-6', 'legacy', false] as const)(
    'a blocked id has no figures by fields: %s',
    async (fields) => {
      const app = await start(framework, { limits: [{ ...limited, fields }] });
      const { status, headers } = await app.get('/', as('mallory'));
      expect(status).toBe(403);
      expect(ratelimitFields(headers)).toEqual([]);
    },
  );

  test('a blocked id costs the other limits beside it nothing', async () => {
    const limiter = stillLimiter({ limits, overrides });
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', 'PerUser'] }] });
    expect(await app.statuses(3, '/', as('mallory'))).toEqual([403, 403, 403]);
    expect((await limiter.check([{ limit: 'Wide', id: 'mallory' }])).remaining).toBe(9);
  });

  test.each(['check-and-spend', 'check-only', 'spend-only'] as const)(
    'a blocked id is denied in each mode: %s',
    async (mode) => {
      const app = await start(framework, { limits: [{ ...limited, limits: [{ limit: 'PerUser', mode }] }] });
      expect(await app.statuses(1, '/', as('mallory'))).toEqual([403]);
    },
  );

  test.each([
    ['answers later', () => lateStore()],
    ['can not answer', () => brokenStore()],
  ])('a blocked id is denied on a store that %s', async (_what, store) => {
    const limiter = stillLimiter({ limits, overrides, store: store(), failure: { onFailure: 'open' } });
    const app = await start(framework, { limits: [{ limiter, limits: ['PerUser', 'Wide'] }] });
    expect(await app.statuses(2, '/', as('mallory'))).toEqual([403, 403]);
    expect(await app.statuses(1, '/', as('ann'))).toEqual([200]);
  });

  test('shadow: a blocked id passes, and is reported', async () => {
    const decisions: Decision[] = [];
    const app = await start(framework, {
      limits: [{ ...limited, shadow: true, onDecision: (decision) => decisions.push(decision) }],
    });
    const { status, headers } = await app.get('/', as('mallory'));
    expect(status).toBe(200);
    expect(ratelimitFields(headers)).toEqual([]);
    expect(decisions).toMatchObject([{ outcome: 'denied', blocked: true, id: 'mallory' }]);
  });

  test('onDenied sees that the id is blocked', async () => {
    const onDenied = framework.onDenied(({ status, decision }, { blocked, retryAfterMs }) => {
      status(blocked ? 404 : 429);
      return `${decision?.blocked} ${retryAfterMs}`;
    });
    const app = await start(framework, { limits: [{ ...limited, onDenied }] });
    const { status, headers, body } = await app.get('/', as('mallory'));
    expect({ status, body }).toEqual({ status: 404, body: 'true Infinity' });
    expect(ratelimitFields(headers)).toEqual([]);
  });

  test('a blocked id behind another limiter keeps the fields that this one has set', async () => {
    const app = await start(framework, {
      limits: [{ name: 'All', count: 5, period: '1m', store: timed().store }],
      routes: { '/': { limits: [limited] } },
    });
    const { status, headers } = await app.get('/', as('mallory'));
    expect(status).toBe(403);
    expect(headers.ratelimit).toBe('"All";r=4;t=12');
    expect(headers).not.toHaveProperty('retry-after');
  });

  test('an inline limit takes a blocked id', async () => {
    const inline = { name: 'PerUser', key: userKey, count: 1, period: '1m', store: timed().store };
    const app = await start(framework, { limits: [{ ...inline, overrides: { mallory: 'blocked' } }] });
    expect(await app.statuses(1, '/', as('mallory'))).toEqual([403]);
  });

  test('a handler that learns the cost later charges a blocked id nothing', async () => {
    const app = await start(framework, {
      limits: [{ ...limited, shadow: false, limits: ['Wide'] }],
      routes: {
        '/': {
          async handle({ decision }) {
            await decision?.charge(1);
            return `${decision?.blocked}`;
          },
        },
      },
    });
    expect((await app.get('/', as('mallory'))).body).toBe('false');
  });
}
