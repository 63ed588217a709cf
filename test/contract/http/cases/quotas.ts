import { createLimiter, memoryStore, type LimiterOptions } from '@sluice/core';
import { quota as quotaLimit } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, userKey } from '../limiters.ts';
import { start } from '../start.ts';

/** 59.4 s before the end of a day, a month and a year. */
const BEFORE_END = Date.UTC(2026, 11, 31, 23, 59, 0, 600);

/** Limits that count in calendar periods. */
export function quotaCases(framework: Framework): void {
  const setup = (limits: LimiterOptions<NativeRequest>['limits']) => {
    const time = new FakeTime();
    time.setWall(BEFORE_END);
    return { time, limiter: createLimiter<NativeRequest>({ limits, store: memoryStore({ time }), time, log: false }) };
  };

  test.each([
    ['hour', ';w=3600'],
    ['day', ';w=86400'],
    ['week', ';w=604800'],
    ['month', ''],
    ['year', ''],
  ] as const)('the fields of a quota per %s: the rest, and the time to the end of the period', async (per, window) => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 2, per }) });
    const app = await start(framework, { limits: [{ limiter }] });
    const { headers } = await app.get('/', as('ann'));
    const seconds = per === 'week' ? 60 + 3 * 86_400 : 60;
    expect(headers.ratelimit).toBe(`"Quota";r=1;t=${seconds}`);
    expect(headers['ratelimit-policy']).toBe(`"Quota";q=2${window}`);
    await app.get('/', as('ann'));
    const denied = await app.get('/', as('ann'));
    expect(denied.status).toBe(429);
    expect(denied.headers).toMatchObject({ ratelimit: `"Quota";r=0;t=${seconds}`, 'retry-after': String(seconds) });
  });

  test('the fields of an unused quota have no t', async () => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 2, per: 'day' }) });
    const app = await start(framework, { limits: [{ limiter, limits: [{ limit: 'Quota', cost: 0 }] }] });
    expect((await app.get('/', as('ann'))).headers.ratelimit).toBe('"Quota";r=2');
  });

  test('w is the length of the current day, also when clocks change', async () => {
    const { limiter, time } = setup({
      Quota: quotaLimit({ key: userKey, count: 2, per: 'day', timeZone: 'Europe/Berlin' }),
    });
    time.setWall(Date.UTC(2026, 9, 25, 12));
    const app = await start(framework, { limits: [{ limiter }] });
    const { headers } = await app.get('/', as('ann'));
    expect(headers).toMatchObject({ ratelimit: '"Quota";r=1;t=39600', 'ratelimit-policy': '"Quota";q=2;w=90000' });
  });

  test('Retry-After is never too short: after it the same request is allowed, in the next period', async () => {
    const { limiter, time } = setup({ Quota: quotaLimit({ key: userKey, count: 1, per: 'month' }) });
    const app = await start(framework, { limits: [{ limiter }] });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    const { headers } = await app.get('/', as('ann'));
    expect(headers['retry-after']).toBe('60');
    time.advance(59_399);
    expect((await app.get('/', as('ann'))).headers['retry-after']).toBe('1');
    time.advance(1);
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect((await app.get('/', as('ann'))).headers['retry-after']).toBe(String(31 * 86_400));
  });

  test('a denial by a quota takes nothing from a rate, and the other way round', async () => {
    const { limiter, time } = setup({
      Often: { key: userKey, burst: 2, count: 1, period: '10s' },
      Quota: quotaLimit({ key: userKey, count: 3, per: 'month' }),
    });
    const app = await start(framework, { limits: [{ limiter, limits: ['Often', 'Quota'] }] });
    expect(await app.statuses(3, '/', as('ann'))).toEqual([200, 200, 429]);
    time.advance(20_000);
    const { headers } = await app.get('/', as('ann'));
    expect(headers.ratelimit).toBe('"Often";r=1;t=10, "Quota";r=0;t=40');
    expect(headers['ratelimit-policy']).toBe('"Often";q=2;w=20, "Quota";q=3');
    const denied = await app.get('/', as('ann'));
    expect(denied).toMatchObject({ status: 429, headers: { ratelimit: '"Quota";r=0;t=40', 'retry-after': '40' } });
    expect(await limiter.check([{ limit: 'Often', id: 'ann' }])).toMatchObject({ remaining: 1 });
  });

  test.each([
    ['draft-7', { ratelimit: 'limit=2, remaining=1, reset=60', 'ratelimit-policy': '2;w=2678400' }],
    [
      'draft-6',
      {
        'ratelimit-limit': '2',
        'ratelimit-remaining': '1',
        'ratelimit-reset': '60',
        'ratelimit-policy': '2;w=2678400',
      },
    ],
    // A whole second, not before the end of the year.
    ['legacy', { 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '1798761601' }],
  ] as const)('the dialect %s reports the end of the period as the reset', async (fields, expected) => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 2, per: 'month' }) });
    const app = await start(framework, { limits: [{ limiter, fields }] });
    expect((await app.get('/', as('ann'))).headers).toMatchObject(expected);
  });

  test.each(['draft-11', 'draft-7', 'draft-6', 'legacy'] as const)(
    'fields: %s reports a quota as if the hidden limit beside it did not exist',
    async (fields) => {
      const quota = quotaLimit({ key: userKey, count: 2, per: 'month' });
      const hidden = { key: userKey, count: 1, period: '1h', hidden: true } as const;
      const alone = setup({ Quota: quota });
      const beside = setup({ Ban: hidden, Quota: quota });
      const [one, other] = [
        await start(framework, { limits: [{ limiter: alone.limiter, fields }] }),
        await start(framework, { limits: [{ limiter: beside.limiter, limits: ['Ban', 'Quota'], fields }] }),
      ];
      const ratesOf = ({ headers }: { headers: object }) =>
        Object.entries(headers).filter(([name]) => name.includes('ratelimit'));
      expect(ratesOf(await other.get('/', as('ann')))).toEqual(ratesOf(await one.get('/', as('ann'))));
      expect(ratesOf(await other.get('/', as('ann')))).toEqual([]);
    },
  );

  test('a hidden quota denies, and no field names it', async () => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 1, per: 'month', hidden: true }) });
    const app = await start(framework, { limits: [{ limiter }] });
    expect(await app.statuses(1, '/', as('ann'))).toEqual([200]);
    const { status, headers } = await app.get('/', as('ann'));
    expect(status).toBe(429);
    expect(headers['retry-after']).toBe('60');
    expect(JSON.stringify(headers)).not.toContain('Quota');
  });

  test('with shadow, a quota counts and denies nothing', async () => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 1, per: 'month' }) });
    const outcomes: string[] = [];
    const onDecision = ({ outcome }: { outcome: string }): void => void outcomes.push(outcome);
    const app = await start(framework, { limits: [{ limiter, shadow: true, onDecision }] });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 200]);
    expect(outcomes).toEqual(['allowed', 'denied']);
  });

  test('a middleware can have a quota of its own', async () => {
    const { time } = setup({});
    const store = memoryStore({ time });
    const app = await start(framework, {
      limits: [
        {
          limit: quotaLimit({ key: userKey, count: 1, per: 'day', timeZone: 'Europe/Berlin' }),
          name: 'Mine',
          store,
          time,
        },
      ],
    });
    expect(await app.statuses(2, '/', as('ann'))).toEqual([200, 429]);
    expect((await app.get('/', as('ann'))).headers['ratelimit-policy']).toBe('"Mine";q=1;w=86400');
  });

  test('settle corrects a quota', async () => {
    const { limiter } = setup({ Quota: quotaLimit({ key: userKey, count: 10, per: 'month' }) });
    const limits = [{ limit: 'Quota', cost: 5, settle: () => 2 }];
    const app = await start(framework, { limits: [{ limiter, limits }] });
    await app.get('/', as('ann'));
    await expect.poll(() => limiter.check([{ limit: 'Quota', id: 'ann' }])).toMatchObject({ remaining: 8 });
  });
}
