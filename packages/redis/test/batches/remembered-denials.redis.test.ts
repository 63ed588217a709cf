import { accountId, createLimiter } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { charge, isAllowed, order, owed, read, refund } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { realDelay } from '../../../../test/real-delay.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();
const store = await readyStore({ url: server.url });
const evalshas = async (): Promise<number> => (await server.commandCalls()).get('evalsha') ?? 0;

/** Waits for as long as a client was told to, and not a millisecond longer. */
async function passed(startMs: number, waitMs: number): Promise<void> {
  // Node's timers may run up to a millisecond early.
  while (performance.now() < startMs + waitMs) await realDelay(startMs + waitMs - performance.now());
}

describe('a client that hammers', () => {
  test('causes no load on Redis once it was denied', async () => {
    await callsOf(store).spend([order('hammers', 5)]);
    await callsOf(store).spend([order('hammers')]);
    const before = await evalshas();
    const { rememberedDenials } = store.status().counts;
    const readings = await Promise.all(Array.from({ length: 1000 }, () => callsOf(store).spend([order('hammers')])));
    expect(await evalshas()).toBe(before);
    expect(store.status().counts.rememberedDenials - rememberedDenials).toBe(1000);
    expect(readings.every((reading) => owed(reading)[0] === 5)).toBe(true);
  });

  test('gets the same retry time from the process as from Redis', async () => {
    await callsOf(store).spend([order('moment', 5)]);
    const told = await callsOf(store).spend([order('moment')]);
    const remembered = await callsOf(store).spend([order('moment')]);
    expect(remembered.nowTicks + remembered.levelsTicks.at(0)!).toBe(told.nowTicks + told.levelsTicks.at(0)!);
  });

  test('within a share is denied by this process, and a request with more room still passes', async () => {
    const limiter = createLimiter({ limits: { Fleet: { key: accountId(), count: 10, period: '1h' } }, store });
    const spend = async (cost: number, share: number) => limiter.spend([{ limit: 'Fleet', id: 'all', cost, share }]);
    expect(await spend(8, 0.8)).toMatchObject({ allowed: true, remaining: 0 });
    await spend(1, 0.8);
    const before = await evalshas();
    expect(await spend(1, 0.8)).toMatchObject({ allowed: false, remaining: 0 });
    expect(await evalshas()).toBe(before);
    expect(await spend(1, 1)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await spend(1, 0.8)).toMatchObject({ allowed: false, remaining: 0 });
    expect(await spend(1, 1)).toMatchObject({ allowed: true, remaining: 0 });
    await limiter.close();
  });

  test('passes as soon as retryAfterMs has passed', async () => {
    const limiter = createLimiter({
      limits: { Quick: { key: accountId(), count: 50, period: '1s', burst: 1 } },
      store,
    });
    const entry = [{ limit: 'Quick', id: 'comes-back' }] as const;
    await limiter.spend(entry);
    const startMs = performance.now();
    const { retryAfterMs } = await limiter.spend(entry);
    await until('it passes', async () => (await limiter.spend(entry)).allowed, { everyMs: 1 });
    expect(retryAfterMs).toBeLessThanOrEqual(20);
    expect(performance.now() - startMs).toBeGreaterThan(0);
    await limiter.close();
  });

  test('passes after retryAfterMs, also when the denial took 40 ms each way', async () => {
    const proxy = await tcpProxy(server);
    const far = await readyStore({ url: proxy.url });
    const limits = { Quick: { key: accountId(), count: 1, period: '1s', burst: 1 } };
    const limiter = createLimiter({ limits, store: far, failure: { onFailure: 'closed', deadlineMs: 1000 } });
    for (let i = 0; i < 3; i++) {
      const entry = [{ limit: 'Quick', id: `far-${i}` }] as const;
      expect((await limiter.spend(entry)).allowed).toBe(true);
      proxy.delay(80);
      const denied = await limiter.spend(entry);
      await proxy.pass();
      const startMs = performance.now();
      const { rememberedDenials } = far.status().counts;
      const { retryAfterMs } = await limiter.spend(entry);
      expect([denied.outcome, far.status().counts.rememberedDenials]).toEqual(['denied', rememberedDenials + 1]);
      await passed(startMs, retryAfterMs);
      expect((await limiter.spend(entry)).outcome).toBe('allowed');
    }
    await limiter.close();
  });

  test('in debt is denied by this process until the debt is paid back, also one that another gateway has charged', async () => {
    const open = () => readyStore({ url: server.url, prefix: 'debt:' });
    const [own, other] = [await open(), await open()];
    const limits = { Tokens: { key: accountId(), burst: 10, count: 1, period: '1m', maxDebt: 5 } };
    const [limiter, gateway] = [createLimiter({ limits, store: own }), createLimiter({ limits, store: other })];
    const entry = [{ limit: 'Tokens', id: 'late' }] as const;
    expect(await limiter.spend(entry)).toMatchObject({ allowed: true, remaining: 9 });
    const [state] = await gateway.charge([{ ...entry[0], cost: 1000 }]);
    expect(state).toMatchObject({ remaining: 0 });
    expect(state?.resetAfterMs).toBeCloseTo(15 * 60_000, -1);
    const denied = await limiter.spend(entry);
    const again = await limiter.spend(entry);
    expect(own.status().counts.rememberedDenials).toBe(1);
    for (const { allowed, retryAfterMs, remaining } of [denied, again]) {
      expect([allowed, remaining]).toEqual([false, 0]);
      expect(retryAfterMs).toBeGreaterThan(5.9 * 60_000);
      expect(retryAfterMs).toBeLessThanOrEqual(6 * 60_000);
    }
    await limiter.refund([{ ...entry[0], cost: 6 }]);
    expect(await gateway.spend(entry)).toMatchObject({ allowed: true, remaining: 0 });
    await Promise.all([limiter.close(), gateway.close()]);
  });

  test('is sent to Redis each time where remembering is disabled', async () => {
    const forgetful = await readyStore({ url: server.url, rememberDenialsMs: 0 });
    await callsOf(forgetful).spend([order('off', 5)]);
    const before = await evalshas();
    for (let i = 0; i < 3; i++) await callsOf(forgetful).spend([order('off')]);
    expect(await evalshas()).toBe(before + 3);
  });
});

describe('what this process changes is seen at once', () => {
  test.each([
    ['a reset', (id: string) => callsOf(store).reset([{ limit: 'Orders', id }]), [0]],
    ['a refund', (id: string) => callsOf(store).refund([refund(id, 2)]), [3]],
    ['a charge', (id: string) => callsOf(store).charge([charge(id)]), [5]],
  ])('%s', async (what, change, expected) => {
    const id = what.replace(' ', '-');
    await callsOf(store).spend([order(id, 5)]);
    await callsOf(store).spend([order(id)]);
    await change(id);
    const before = await evalshas();
    expect(owed(await callsOf(store).spend([order(id)]))).toEqual(expected);
    expect(await evalshas()).toBe(before + 1);
  });

  test('a smaller request that passes', async () => {
    await callsOf(store).spend([order('smaller', 3)]);
    expect(isAllowed([order('smaller', 3)], await callsOf(store).spend([order('smaller', 3)]))).toBe(false);
    await callsOf(store).spend([order('smaller', 1)]);
    expect(owed(await callsOf(store).spend([order('smaller', 3)]))).toEqual([4]);
  });

  test('a request that takes from a bucket beside the one that denied', async () => {
    const batch = [order('beside'), read('beside')];
    await callsOf(store).spend([order('beside', 5)]);
    expect(owed(await callsOf(store).spend(batch))).toEqual([5, 0]);
    await callsOf(store).spend([read('beside', 2)]);
    expect(owed(await callsOf(store).spend(batch))).toEqual([5, 2]);
  });
});

describe('alternatives', () => {
  const alternatives = [[order('alt-own')], [order('alt-pool'), order('alt-ceiling')]];

  test('that are all known to be denied cost Redis nothing', async () => {
    await callsOf(store).spend([order('alt-own', 5), order('alt-pool', 5)]);
    const told = await callsOf(store).spendFirst(alternatives);
    const before = await evalshas();
    const { batches, rememberedDenials } = store.status().counts;
    const remembered = await callsOf(store).spendFirst(alternatives);
    expect(remembered.map(owed)).toEqual(told.map(owed));
    expect(remembered.every((reading) => reading.remembered)).toBe(true);
    expect(await evalshas()).toBe(before);
    expect(store.status().counts).toMatchObject({ batches: batches + 1, rememberedDenials: rememberedDenials + 1 });
  });

  test('are all sent when one of them may pass, so that a refund of another process lets the first pass', async () => {
    const elsewhere = await readyStore({ url: server.url, prefix: 'elsewhere:' });
    const own = await readyStore({ url: server.url, prefix: 'elsewhere:' });
    await callsOf(own).spend([order('own', 5)]);
    await callsOf(own).spend([order('own')]);
    await callsOf(elsewhere).refund([refund('own', 1)]);
    expect((await callsOf(own).spendFirst([[order('own')], [order('pool')]])).map(owed)).toEqual([[4]]);
    await Promise.all([own.close(), elsewhere.close()]);
  });

  test('of a limiter are decided and remembered as one, and a refund is seen at once', async () => {
    const limits = Object.fromEntries(
      ['Own', 'Pool'].map((name) => [name, { key: accountId(), count: 1, period: '1h' }]),
    );
    const limiter = createLimiter({ limits, store, failure: { onFailure: 'closed', deadlineMs: 1000 } });
    const firstOf = ['Own', 'Pool'].map((limit) => [{ limit, id: 'limiter' }]);
    const decisions = [];
    for (let i = 0; i < 3; i++) decisions.push(await limiter.spend({ firstOf }));
    expect(decisions.map(({ outcome, limit }) => [outcome, limit])).toEqual([
      ['allowed', 'Own'],
      ['allowed', 'Pool'],
      ['denied', 'Own'],
    ]);
    const before = await evalshas();
    expect(await limiter.spend({ firstOf })).toMatchObject({ outcome: 'denied', limit: 'Own' });
    expect(await evalshas()).toBe(before);
    expect(await limiter.refund(decisions.at(1)!)).toMatchObject([{ limit: 'Pool', remaining: 1 }]);
    expect(await limiter.check({ firstOf })).toMatchObject({ allowed: true, limit: 'Pool' });
    expect(await limiter.spend({ firstOf })).toMatchObject({ allowed: true, limit: 'Pool' });
    await limiter.close();
  });

  test('that passed are forgotten, and those that were skipped are not touched', async () => {
    await callsOf(store).spend([order('alt-x', 3), order('alt-y', 5)]);
    await callsOf(store).spend([order('alt-x', 3)]);
    await callsOf(store).spend([order('alt-y')]);
    expect(
      (await callsOf(store).spendFirst([[order('alt-x', 3)], [order('alt-x', 2)], [order('alt-y')]])).map(owed),
    ).toEqual([[3], [3]]);
    const before = await evalshas();
    await callsOf(store).spend([order('alt-y')]);
    expect(await evalshas()).toBe(before);
    expect(owed(await callsOf(store).spend([order('alt-x', 3)]))).toEqual([5]);
    expect(await evalshas()).toBe(before + 1);
  });
});
