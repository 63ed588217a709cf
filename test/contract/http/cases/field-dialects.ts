import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { as, stillLimiter, timed, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** The older formats of the header fields. */
export function fieldDialectCases(framework: Framework): void {
  const draft7 = { ratelimit: 'limit=2, remaining=1, reset=30', 'ratelimit-policy': '2;w=60' };
  const draft6 = {
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '30',
    'ratelimit-policy': '2;w=60',
  };

  test('draft 7 reports limit, remaining and reset in one field', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', fields: 'draft-7', store: timed().store }],
    });
    expect((await app.get()).headers).toMatchObject(draft7);
    await app.get();
    const { headers } = await app.get();
    expect(headers).toMatchObject({ ratelimit: 'limit=2, remaining=0, reset=30', 'retry-after': '30' });
  });

  test('draft 6 reports limit, remaining and reset in a field each', async () => {
    const app = await start(framework, {
      limits: [{ name: 'Requests', count: 2, period: '1m', fields: 'draft-6', store: timed().store }],
    });
    const { headers } = await app.get();
    expect(headers).toMatchObject(draft6);
    expect(headers).not.toHaveProperty('ratelimit');
    await app.get();
    expect((await app.get()).headers).toMatchObject({ ...draft6, 'ratelimit-remaining': '0', 'retry-after': '30' });
  });

  test('the legacy fields report the reset in seconds since 1970', async () => {
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

  test.each([
    { fields: 'draft-11', before: { RateLimit: 'limit=5, remaining=4, reset=1', 'RateLimit-Policy': '5;w=60' } },
    { fields: 'draft-11', before: { RateLimit: 'limit=5, remaining=4, reset=1' } },
    { fields: 'draft-11', before: { 'RateLimit-Policy': '5;w=60' } },
    { fields: 'draft-7', before: { RateLimit: '"Gateway";r=4;t=1', 'RateLimit-Policy': '"Gateway";q=5;w=60' } },
    { fields: 'draft-6', before: { 'RateLimit-Policy': '"Gateway";q=5;w=60' } },
  ] as const)('a field never mixes two dialects: $fields after $before', async ({ fields, before }) => {
    const app = await start(framework, {
      before({ set }) {
        for (const [name, value] of Object.entries(before)) set(name, value);
      },
      limits: [{ name: 'Requests', count: 10, period: '1m', fields, store: timed().store }],
    });
    const { headers } = await app.get();
    for (const [name, value] of Object.entries(before)) expect(headers[name.toLowerCase()]).toBe(value);
  });

  test('of two middlewares in draft 7 the stricter figures are reported, and every policy', async () => {
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
    'of two middlewares in %s the stricter figures are reported',
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

  test('of several limits a dialect with one set of figures reports the strictest', async () => {
    const limiter = stillLimiter({
      limits: { Wide: { key: userKey, count: 9, period: '1m' }, Narrow: { key: userKey, count: 3, period: '1m' } },
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Wide', 'Narrow'], fields: 'draft-7' }] });
    expect((await app.get('/', as('ann'))).headers).toMatchObject({
      ratelimit: 'limit=3, remaining=2, reset=20',
      'ratelimit-policy': '9;w=60, 3;w=60',
    });
  });

  test('a denial reports its own figures, whatever an earlier middleware reported', async () => {
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
}
