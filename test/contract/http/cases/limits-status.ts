import { createLimiter, everyone, ipAddress, memoryStore, type LimiterOptions } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import type { Framework, NativeRequest } from '../framework.ts';
import { as, brokenStore, lateStore, stillLimiter, userKey } from '../limiters.ts';
import { start, type App } from '../start.ts';

const WALL = Date.UTC(2026, 6, 1, 12);
const SECONDS = WALL / 1000;

/** `limitsStatus`: what a client may ask about its limits, without being counted. */
export function limitsStatusCases(framework: Framework): void {
  const setup = (options: LimiterOptions<NativeRequest>) => {
    const time = new FakeTime();
    time.setWall(WALL);
    return {
      time,
      limiter: createLimiter<NativeRequest>({ store: memoryStore({ time }), time, log: false, ...options }),
    };
  };
  const minute = { key: userKey, count: 6, period: '1m' } as const;

  const shown = async (app: App, user = 'ann'): Promise<unknown> =>
    JSON.parse((await app.get('/rate_limit', as(user))).body) as unknown;

  test('shows limit, remaining and reset of each limit, in the order of the names', async () => {
    const { limiter } = setup({
      limits: {
        Monthly: quota({ key: userKey, count: 9, per: 'month' }),
        Slots: concurrency({ key: userKey, concurrency: 3 }),
        PerUser: { ...minute, burst: 4 },
      },
    });
    const app = await start(framework, { status: { limiter, limits: ['PerUser', 'Monthly', 'Slots'] } });
    await limiter.spend([
      { limit: 'PerUser', id: 'ann', cost: 3 },
      { limit: 'Monthly', id: 'ann', cost: 2 },
    ]);
    await limiter.spend([{ limit: 'Slots', id: 'ann' }], { hold: true });
    const { status, headers, body } = await app.get('/rate_limit', as('ann'));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'cache-control': 'no-store',
      ratelimit: '"PerUser";r=1;t=10, "Monthly";r=7;t=2635200, "Slots";r=2',
      'ratelimit-policy': '"PerUser";q=4;w=40, "Monthly";q=9, "Slots";q=3;qu="concurrent-requests"',
    });
    expect(body).toBe(
      JSON.stringify({
        limits: {
          PerUser: { limit: 4, remaining: 1, reset: SECONDS + 30 },
          Monthly: { limit: 9, remaining: 7, reset: Date.UTC(2026, 7, 1) / 1000 },
          Slots: { limit: 3, remaining: 2, reset: null },
        },
      }),
    );
  });

  test.each([false, true])('is never counted, also when a limit is used up (late store: %s)', async (isLate) => {
    const time = new FakeTime();
    time.setWall(WALL);
    const store = memoryStore({ time });
    const limits = { PerUser: minute };
    const limiter = createLimiter<NativeRequest>({
      limits,
      store: isLate ? lateStore(store) : store,
      time,
      log: false,
    });
    const app = await start(framework, { status: { limiter } });
    for (let i = 0; i < 9; i++) expect((await app.get('/rate_limit', as('ann'))).status).toBe(200);
    expect(await limiter.check([{ limit: 'PerUser', id: 'ann' }])).toMatchObject({ remaining: 6 });
    await limiter.spend([{ limit: 'PerUser', id: 'ann', cost: 6 }]);
    const { status, headers } = await app.get('/rate_limit', as('ann'));
    expect({ status, retryAfter: headers['retry-after'] }).toEqual({ status: 200, retryAfter: undefined });
    expect(await shown(app)).toEqual({ limits: { PerUser: { limit: 6, remaining: 0, reset: SECONDS + 60 } } });
  });

  test('takes one call of the store for all limits', async () => {
    const { time } = setup({ limits: {} });
    const store = memoryStore({ time });
    const calls: string[] = [];
    const counting = new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return Reflect.apply(value, target, args) as unknown;
        };
      },
    });
    const limits = {
      PerUser: minute,
      All: { key: everyone(), count: 9, period: '1m' },
      Hourly: { ...minute, period: '1h' },
    };
    const limiter = createLimiter<NativeRequest>({ limits, store: counting, time, log: false });
    const app = await start(framework, { status: { limiter, limits: ['PerUser', 'All', 'Hourly'] } });
    calls.length = 0;
    await app.get('/rate_limit', as('ann'));
    expect(calls).toHaveLength(1);
  });

  test('leaves out limits that do not apply, hidden ones and unlimited ids, and shows overrides', async () => {
    const { limiter } = setup({
      limits: { PerUser: minute, Ban: { ...minute, hidden: true }, Free: minute, Other: minute },
      overrides: { Free: { ann: 'unlimited' }, Other: { ann: { count: 60, period: '1m' }, bob: 'blocked' } },
    });
    const app = await start(framework, { status: { limiter, limits: ['PerUser', 'Ban', 'Free', 'Other'] } });
    const full = { limit: 6, remaining: 6, reset: SECONDS };
    expect(await shown(app)).toEqual({
      limits: { PerUser: full, Other: { limit: 60, remaining: 60, reset: SECONDS } },
    });
    expect(await shown(app, 'bob')).toMatchObject({ limits: { Other: { limit: 0, remaining: 0, reset: null } } });
    expect(JSON.parse((await app.get('/rate_limit')).body)).toEqual({ limits: {} });
  });

  test('goes by the client of the request, like rateLimit', async () => {
    const { limiter } = setup({
      limits: { PerAddress: { key: ipAddress(), count: 6, period: '1m' } },
      trustedProxies: ['loopback'],
    });
    const app = await start(framework, { status: { limiter } });
    await limiter.spend([{ limit: 'PerAddress', id: '203.0.113.7', cost: 2 }]);
    const { body } = await app.get('/rate_limit', { headers: { 'X-Forwarded-For': '203.0.113.7' } });
    expect(JSON.parse(body)).toMatchObject({ limits: { PerAddress: { remaining: 4 } } });
  });

  test('the fields are in the dialect of `fields`, or left out', async () => {
    const { limiter } = setup({ limits: { PerUser: minute } });
    const legacy = await start(framework, { status: { limiter, fields: 'legacy' } });
    expect((await legacy.get('/rate_limit', as('ann'))).headers).toMatchObject({ 'x-ratelimit-remaining': '6' });
    const none = await start(framework, { status: { limiter, fields: false } });
    expect(Object.keys((await none.get('/rate_limit', as('ann'))).headers).join()).not.toContain('ratelimit');
  });

  test.each(['local', 'open', 'closed'] as const)(
    'when the store can not answer, the status is 503, under the policy %s',
    async (onFailure) => {
      const limiter = stillLimiter({ limits: { PerUser: { ...minute, onFailure } }, store: brokenStore() });
      const app = await start(framework, { status: { limiter } });
      const { status, headers, body } = await app.get('/rate_limit', as('ann'));
      expect(status).toBe(503);
      expect(headers).toMatchObject({ 'retry-after': '1', 'content-type': 'application/problem+json' });
      expect(JSON.parse(body)).toMatchObject({ status: 503 });
      expect(headers.ratelimit).toBeUndefined();
    },
  );

  test('an error of a key goes to the error handler', async () => {
    const { limiter } = setup({ limits: { PerUser: minute } });
    const app = await start(framework, { status: { limiter } });
    const { status } = await app.get('/rate_limit', as('x'.repeat(300)));
    expect(status).toBe(400);
    expect(app.errors).toEqual([expect.objectContaining({ code: 'ERR_ID' })]);
  });

  test('wrong options are errors that say what to write', () => {
    const make = (options: unknown): unknown => framework.makeStatus(options);
    const { limiter } = setup({ limits: { PerUser: minute, Busy: load({ load: loadFrom(() => 0) }) } });
    expect(() => make({ limiter, limits: [{ limit: 'PerUser', cost: 2 }] })).toThrow(/no cost and no mode/);
    expect(() => make({ limiter, limits: ['Busy'] })).toThrow(/"Busy" is a load limit/);
    expect(() => make({ limiter, limits: ['Nobody'] })).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_LIMIT' }));
    expect(() => make({ limiter, limit: ['PerUser'] })).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION' }),
    );
    expect(() => make({ limiter, limits: ['PerUser'], fields: 'draft-1' })).toThrow(/`fields` must be/);
    expect(() => make({ limiter: {}, limits: ['PerUser'] })).toThrow(/limiter/);
  });
}
