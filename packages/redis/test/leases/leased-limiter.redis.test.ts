import { accountId, createLimiter, type FailurePolicy, type Limiter, type LimiterEvent } from '@sluice/core';
import { leasedStore, type LeasedStoreEvent } from '@sluice/redis';
import { describe, expect, test } from 'vitest';
import { redisServer, type RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { until } from '../../../../test/redis/servers/until.ts';

const key = accountId();

/** A limiter of one process of `gateways`, with a limit that is slow enough for no token to come back during a test. */
async function limiterOn(server: RedisServer, gateways: number, onFailure: FailurePolicy = 'closed'): Promise<Limiter> {
  const limits = {
    Leased: { key, burst: 100, count: 100, period: '24h', overshoot: 0.1, onFailure },
    Exact: { key, burst: 100, count: 100, period: '24h', onFailure },
  };
  const store = leasedStore({ url: server.url, gateways, maxWait: '1s', log: false });
  const limiter = createLimiter({ limits, store, log: false, failure: { gateways, deadlineMs: 20_000 } });
  running.add({
    close: async () => {
      await limiter.close({ store: true });
    },
  });
  await limiter.ready();
  return limiter;
}

const spend = (limiter: Limiter, limit = 'Leased') => limiter.spend([{ limit, id: '7' }]);

/** Spends at all limiters in turn until each has denied ten times, and returns how many requests passed. */
async function flooded(limiters: readonly Limiter[], limit: string): Promise<number> {
  let passed = 0;
  for (let denied = 0; denied < 10 * limiters.length;) {
    for (const limiter of limiters) {
      const { allowed } = await spend(limiter, limit);
      if (allowed) passed++;
      else denied++;
    }
  }
  return passed;
}

describe('limiters on stores with leases', () => {
  test('exceed a limit with an overshoot by at most its bound, and another one by nothing', async () => {
    const server = await redisServer();
    const one = await limiterOn(server, 2);
    const limiters = [one, await limiterOn(server, 2)];
    const { lease } = one.describe('Leased');
    const bound = lease?.leased === true ? lease.bound : NaN;
    expect(bound).toBeLessThanOrEqual(20);
    const passed = await flooded(limiters, 'Leased');
    expect(passed).toBeGreaterThan(80);
    expect(passed).toBeLessThanOrEqual(100 + bound);
    expect(await flooded(limiters, 'Exact')).toBe(100);
  });

  test('decide a batch of both kinds, all or nothing', async () => {
    const server = await redisServer();
    const limiter = await limiterOn(server, 1);
    expect(await flooded([limiter], 'Exact')).toBe(100);
    const both = ['Leased', 'Exact'].map((limit) => ({ limit, id: '7' }));
    const { allowed, results } = await limiter.spend(both);
    expect(allowed).toBe(false);
    expect(results.map(({ spent }) => spent)).toEqual([0, 0]);
  });

  test('give back what a decision has taken', async () => {
    const server = await redisServer();
    const limiter = await limiterOn(server, 1);
    const before = await limiter.check([{ limit: 'Leased', id: '7' }]);
    const decision = await spend(limiter);
    await limiter.refund(decision);
    const remaining = async (): Promise<number> => (await limiter.check([{ limit: 'Leased', id: '7' }])).remaining;
    await expect.poll(remaining).toBe(before.remaining);
  });

  test.each([
    ['closed', 'unavailable'],
    ['local', 'denied'],
  ] as const)('with onFailure %s, pass no more than their bound when Redis is gone', async (policy, last) => {
    const server = await redisServer();
    const limiter = await limiterOn(server, 1, policy);
    for (let i = 0; i < 20; i++) await spend(limiter);
    await server.kill();
    let passed = 20;
    let outcome = '';
    for (let i = 0; i < 300; i++) {
      const decision = await spend(limiter);
      if (decision.allowed) passed++;
      else outcome = decision.outcome;
    }
    expect(outcome).toBe(last);
    expect(passed).toBeLessThanOrEqual(120);
    await server.start();
    const reset = async (): Promise<boolean> => {
      await limiter.reset([{ limit: 'Leased', id: '7' }]);
      return true;
    };
    await until('a reset is answered', () => reset().catch(() => false));
    await until('requests pass again', async () => (await spend(limiter)).allowed);
  });

  test('pass no more than their bound when a Redis that decides for them, because it is far, stops answering', async () => {
    const proxy = await tcpProxy(await redisServer());
    const limits = {
      Leased: { key, burst: 100, count: 100, period: '24h', overshoot: 0.1, onFailure: 'local' },
    } as const;
    let strict = 0;
    const onEvent = ({ type }: LeasedStoreEvent): void => void (type === 'limit-strict' && strict++);
    const makeLimiter = async (): Promise<Limiter> => {
      const store = leasedStore({
        url: proxy.url,
        gateways: 2,
        maxWait: '1s',
        rememberDenialsMs: 0,
        log: false,
        onEvent,
      });
      const limiter = createLimiter({ limits, store, log: false, failure: { gateways: 2, deadlineMs: 1000 } });
      running.add({ close: async () => limiter.close({ store: true }) });
      await limiter.ready();
      return limiter;
    };
    const limiters = [await makeLimiter(), await makeLimiter()];
    const { lease } = limiters[0]!.describe('Leased');
    const bound = lease?.leased === true ? lease.bound : NaN;
    proxy.delay(100);
    let passed = 0;
    const spendAtAll = async (count: number): Promise<number> => {
      const asked = limiters.flatMap((limiter) => Array.from({ length: count }, async () => spend(limiter)));
      const allowed = (await Promise.all(asked)).filter((decision) => decision.allowed).length;
      passed += allowed;
      return allowed;
    };
    await until('Redis decides and denies', async () => (await spendAtAll(10)) === 0 && strict === limiters.length);
    proxy.blackhole();
    await spendAtAll(60);
    // By the policy `local`, one token more for each process.
    expect(passed).toBeLessThanOrEqual(100 + bound + 2);
    expect((await limiters[0]!.check([{ limit: 'Leased', id: '7' }])).allowed).toBe(false);
    await proxy.pass();
  });

  test('report once that a limit is decided by Redis: the limiter for its own numbers, the store for those of an id', async () => {
    const server = await redisServer();
    const events: (LeasedStoreEvent | LimiterEvent)[] = [];
    const onEvent = (event: LeasedStoreEvent | LimiterEvent): void => void events.push(event);
    const store = leasedStore({ url: server.url, gateways: 1, maxWait: '1s', log: false, onEvent });
    const limits = {
      Small: { key, burst: 10, count: 100, period: '24h', overshoot: 0.05 },
      Large: { key, burst: 100, count: 100, period: '24h', overshoot: 0.05 },
    } as const;
    const overrides = { Large: { '8': { burst: 10, count: 10, period: '24h' } } } as const;
    const limiter = createLimiter({
      limits,
      overrides,
      store,
      log: false,
      onEvent,
      failure: { gateways: 1, deadlineMs: 20_000 },
    });
    running.add({ close: async () => limiter.close({ store: true }) });
    await limiter.ready();
    const seen = () => events.filter(({ type }) => type !== 'connection').map(({ type, message }) => [type, message]);
    const warning = [
      'warning',
      expect.stringMatching(/^Limit "Small" is decided exactly.* because overshoot × burst is 0 tokens, /),
    ];
    for (const id of ['7', '8']) await limiter.spend([{ limit: 'Small', id }]);
    await limiter.spend([{ limit: 'Large', id: '7' }]);
    expect(seen()).toEqual([warning]);
    for (let i = 0; i < 2; i++) await limiter.spend([{ limit: 'Large', id: '8' }]);
    expect(seen()).toEqual([warning, ['limit-strict', expect.stringContaining('limit "Large"')]]);
  });

  test('cut a debt after a raise to what an empty bucket has, and what processes may have let through beyond it', async () => {
    const server = await redisServer();
    const slow = { Leased: { key, burst: 10, count: 10, period: '24h', overshoot: 0.5 } } as const;
    const raised = { Leased: { ...slow.Leased, period: '1h' } } as const;
    const make = async () => {
      const store = leasedStore({ url: server.url, gateways: 1, maxWait: '1s', log: false });
      const limiter = createLimiter({ limits: slow, store, log: false, failure: { gateways: 1, deadlineMs: 20_000 } });
      running.add({ close: async () => limiter.close({ store: true }) });
      await limiter.ready();
      return { limiter, store };
    };
    const both = [await make(), await make()];
    const ten = [{ limit: 'Leased', id: '7', cost: 10 }] as const;
    expect((await both.at(0)!.limiter.spend(ten)).allowed).toBe(true);
    for (const { limiter } of both) {
      limiter.replace({ limits: raised });
      // Each of 15 tokens comes back in 6 minutes; 6 must be back.
      const retryMs = async (): Promise<number> =>
        (await limiter.check([{ limit: 'Leased', id: '7' }])).retryAfterMs / 60_000;
      await expect.poll(retryMs).toBeLessThanOrEqual(36);
      expect(await retryMs()).toBeGreaterThan(35);
    }
  });
});
