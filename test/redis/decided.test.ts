// What a limiter promises of several limits, overrides and addresses, kept on a real Redis and over HTTP.
import { accountId, createLimiter, ipAddress, ipv6RangeCIDR, type Rate, type Limiter, type Store } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import express, { type RequestHandler } from 'express';
import { expect, it } from 'vitest';
import { listening } from './http.ts';
import { redisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';
import { realDelay } from '../real-delay.ts';

// Whatever the store does not decide itself fails its test.
const PATIENT = { deadlineMs: 10_000, onFailure: 'closed' } as const;

async function storeOfItsOwn(rememberDenialsMs?: number): Promise<Store> {
  const { url } = await redisServer();
  return storeAt(url, rememberDenialsMs);
}

async function storeAt(url: string, rememberDenialsMs?: number): Promise<Store> {
  const store = redisStore({ url, rememberDenialsMs, log: false });
  running.add({ close: () => store.close() });
  await until('it is connected', () => store.status().state === 'up');
  return store;
}

function answering(limited: RequestHandler): express.Express {
  return express().get('/', limited, (_request, response) => void response.send('hello'));
}

it('a request that one limit denies spends nothing at the others', async () => {
  const limiter = createLimiter({
    limits: {
      PerAddress: { key: ipAddress(), burst: 100, count: 1, period: '1h' },
      PerAccount: {
        key: accountId((request: express.Request) => request.get('x-account') ?? null),
        burst: 2,
        count: 1,
        period: '1h',
      },
    },
    store: await storeOfItsOwn(),
    failure: PATIENT,
  });
  const get = await listening(answering(rateLimit({ limiter, limits: ['PerAddress', 'PerAccount'] })));
  const statuses = await statusesOf(
    get,
    Array.from({ length: 20 }, () => ({ 'x-account': '1' })),
  );
  expect(statuses).toEqual([200, 200, ...Array.from({ length: 18 }, () => 429)]);
  expect((await limiter.check([{ limit: 'PerAddress', id: '127.0.0.1' }])).remaining).toBe(98);
});

it('a denied expensive call takes no tokens from a cheap one', async () => {
  const limiter = createLimiter({
    limits: { Work: { key: accountId(() => 'one'), burst: 10, count: 1, period: '1h' } },
    store: await storeOfItsOwn(),
    failure: PATIENT,
  });
  const limits = [{ limit: 'Work' as const, cost: (request: express.Request) => Number(request.get('x-cost')) }];
  const get = await listening(answering(rateLimit({ limiter, limits })));
  const costs = ['8', '9', '9', '2', '1'];
  expect(
    await statusesOf(
      get,
      costs.map((cost) => ({ 'x-cost': cost })),
    ),
  ).toEqual([200, 429, 429, 200, 429]);
});

it('an override that is raised helps at once, and one that is taken away binds at once', async () => {
  const key = accountId();
  const limits = { Orders: { key, burst: 2, count: 2, period: '1h' } };
  const limiter = createLimiter({ limits, store: await storeOfItsOwn(), failure: PATIENT });
  const orders = [{ limit: 'Orders', id: 'one' }] as const;
  for (const _ of [1, 2]) expect((await limiter.spend(orders)).allowed).toBe(true);
  expect((await limiter.spend(orders)).retryAfterMs).toBeGreaterThan(1_700_000);

  limiter.replace({ limits, overrides: { Orders: { one: { burst: 2, count: 7200, period: '1h' } } } });
  const raised = await limiter.spend(orders);
  // Two tokens of half a second each are the most that a bucket of two can owe.
  expect(raised.retryAfterMs).toBeLessThanOrEqual(500);
  await expect.poll(async () => (await limiter.spend(orders)).allowed, { timeout: 10_000 }).toBe(true);

  limiter.replace({ limits });
  const taken = await limiter.check(orders);
  expect(taken.results[0]).toMatchObject({ overridden: false, burst: 2, count: 2 });
});

it('a raise that reaches one process after the other lets the old burst pass once more for each', async () => {
  const { url } = await redisServer();
  const set = (numbers: Rate) => ({ limits: { Orders: { key: accountId(), ...numbers } } });
  // So slow that no token comes back during the test.
  const [old, current] = [
    { count: 50, period: '30d' },
    { count: 5, period: '5h' },
  ];
  const limiters: Limiter[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let i = 0; i < 5; i++)
    limiters.push(createLimiter({ ...set(old), store: await storeAt(url, 0), failure: PATIENT }));
  let taken = 0;
  const takeAll = async (): Promise<void> => {
    for (const limiter of limiters) {
      // oxlint-disable-next-line no-await-in-loop -- until it is denied
      while ((await limiter.spend([{ limit: 'Orders', id: 'one' }])).allowed) taken++;
    }
  };
  await takeAll();
  expect(taken).toBe(50);
  for (const [i, limiter] of limiters.entries()) {
    limiter.replace(set(current));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await takeAll();
    expect(taken).toBeLessThanOrEqual(50 + 5 + (i + 1) * 50);
  }
  expect(taken).toBeGreaterThan(50);
});

it('after a raise, denials at the same time all name the new wait', async () => {
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), count: 1, period: '1d' } },
    store: await storeOfItsOwn(),
    failure: PATIENT,
  });
  const orders = [{ limit: 'Orders', id: 'one' }] as const;
  await limiter.spend(orders);
  limiter.replace({ limits: { Orders: { key: accountId(), burst: 1, count: 1, period: '1m' } } });
  const denials = await Promise.all(Array.from({ length: 20 }, () => limiter.spend(orders)));
  for (const denial of denials) {
    expect(denial.outcome).toBe('denied');
    expect(denial.retryAfterMs).toBeLessThanOrEqual(60_000);
  }
});

it('the wait of a denial is exact: the request passes then, and not sooner', async () => {
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), burst: 1, count: 1, period: '400ms' } },
    store: await storeOfItsOwn(0),
    failure: PATIENT,
  });
  const orders = [{ limit: 'Orders', id: 'one' }] as const;
  await limiter.spend(orders);
  const askedMs = performance.now();
  const { retryAfterMs } = await limiter.spend(orders);
  let allowed = false;
  while (!allowed) ({ allowed } = await limiter.spend(orders));
  const passedMs = performance.now();
  expect(passedMs).toBeGreaterThanOrEqual(askedMs + retryAfterMs);

  // Asked just after the wait, however late the timer: it passes.
  const { retryAfterMs: waitMs } = await limiter.spend(orders);
  await realDelay(Math.ceil(waitMs) + 1);
  expect((await limiter.spend(orders)).allowed).toBe(true);
});

it('an allowed check with a long wait does not hide the limit that denies', async () => {
  const limiter = createLimiter({
    limits: {
      Slow: { key: accountId(), burst: 1, count: 1, period: '168h' },
      Quick: { key: accountId(), burst: 1, count: 1, period: '1m' },
    },
    store: await storeOfItsOwn(),
    failure: PATIENT,
  });
  await limiter.spend([{ limit: 'Quick', id: 'one' }]);
  const decision = await limiter.spend([
    { limit: 'Slow', id: 'one' },
    { limit: 'Quick', id: 'one' },
  ]);
  expect(decision).toMatchObject({ allowed: false, limit: 'Quick' });
  expect((await limiter.check([{ limit: 'Slow', id: 'one' }])).remaining).toBe(1);
});

it('two gateways that race for one bucket never let a request too many through', async () => {
  const { url } = await redisServer();
  const stores = await Promise.all([storeAt(url, 0), storeAt(url, 0)]);
  const limits = { Orders: { key: accountId(), burst: 50, count: 1, period: '1h' } };
  const gateways = stores.map((store) => createLimiter({ limits, store, failure: PATIENT }));
  const racing = Array.from({ length: 400 }, (_, index) =>
    gateways[index % 2]!.spend([{ limit: 'Orders', id: 'one' }]),
  );
  const decisions = await Promise.all(racing);
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50);
  expect(decisions.filter(({ failure }) => failure !== undefined)).toEqual([]);
});

it('IPv4 clients are one bucket each, however their address is written, and never one /48', async () => {
  const limiter = createLimiter({
    limits: {
      PerAddress: { key: ipAddress(), burst: 2, count: 1, period: '1h' },
      PerRange: { key: ipv6RangeCIDR(), burst: 3, count: 1, period: '1h' },
    },
    trustedProxies: ['loopback'],
    store: await storeOfItsOwn(),
    failure: PATIENT,
  });
  const get = await listening(answering(rateLimit({ limiter, limits: ['PerAddress', 'PerRange'] })));
  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });
  const mapped = ['::ffff:203.0.113.7', '::ffff:cb00:7107', '203.0.113.7'].map(from);
  expect(await statusesOf(get, mapped)).toEqual([200, 200, 429]);
  const others = ['203.0.113.8', '::ffff:198.51.100.1', '192.0.2.1', '::ffff:192.0.2.2'].map(from);
  expect(await statusesOf(get, others)).toEqual([200, 200, 200, 200]);
  const oneRange = ['2001:db8:7::1', '2001:db8:7::2', '2001:db8:7:1::3', '2001:db8:7:2::4'].map(from);
  expect(await statusesOf(get, oneRange)).toEqual([200, 200, 200, 429]);
});

async function statusesOf(
  get: (headers: Record<string, string>) => Promise<Response>,
  requests: readonly Record<string, string>[],
): Promise<number[]> {
  const statuses: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- in this order
  for (const headers of requests) statuses.push((await get(headers)).status);
  return statuses;
}
