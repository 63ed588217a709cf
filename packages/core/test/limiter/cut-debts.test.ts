import { accountId, createLimiter, memoryStore, type Rate } from '@sluice/core';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { MapStore } from '../testing/map-store.ts';
import { all, anotherOn, daily, limiterOn, quick, setOf, twoOn } from './raised.ts';

describe('a debt is cut when the first decision on its bucket', () => {
  const slowly: Rate = { count: 2, period: '30d' };
  const fast: Rate = { count: 100, period: '1s', burst: 2 };
  const spendOnly = [{ limit: 'Orders', id: '7', mode: 'spend-only' }] as const;

  test('is a spend-only, which is never denied', () => {
    const time = new FakeTime();
    const limiter = limiterOn(memoryStore({ time }), slowly);
    limiter.spendSync(all(2));
    limiter.replace(setOf(fast));
    expect(limiter.spendSync(spendOnly)).toMatchObject({ outcome: 'allowed', remaining: 0, resetAfterMs: 20 });
    time.advance(20);
    expect(limiter.spendSync(spendOnly).results[0]).toMatchObject({ spent: 1, remaining: 1 });
  });

  test('is a spend-only beside another limit, from which the batch takes once', () => {
    const limits = (numbers: Rate) => ({
      Orders: { key: accountId(), ...numbers },
      Reads: { key: accountId(), ...daily },
    });
    const time = new FakeTime();
    const limiter = createLimiter({ limits: limits(slowly), store: memoryStore({ time }), log: false });
    limiter.spendSync(all(2));
    limiter.replace({ limits: limits(fast) });
    const reads = { limit: 'Reads', id: '7' } as const;
    expect(limiter.spendSync([...spendOnly, reads]).results[1]).toMatchObject({ spent: 1, remaining: 4 });
    expect(limiter.checkSync([{ ...reads, cost: 0 }]).remaining).toBe(4);
    expect(limiter.checkSync([{ ...spendOnly[0], cost: 0 }]).resetAfterMs).toBe(20);
  });

  test('is a check of cost 0, which shows the new numbers at once', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), slowly);
    limiter.spendSync(all(2));
    limiter.replace(setOf(fast));
    expect(limiter.checkSync(all(0))).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 20 });
  });

  test('is made after a charge, which itself cuts nothing', async () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), slowly);
    limiter.spendSync(all(2));
    limiter.replace(setOf(fast));
    expect((await limiter.charge(all(1)))[0]).toMatchObject({ remaining: 0, resetAfterMs: 30 * 86_400_000 });
    expect(limiter.checkSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 10 });
  });
});

describe('the old burst can be spent once more for each process that has the raised limit', () => {
  const old: Rate = { count: 1000, period: '1d' };
  const one = [{ limit: 'Orders', id: '7' }] as const;

  test('while others still use the old numbers', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiters = Array.from({ length: 10 }, () => anotherOn(store, old));
    let taken = 0;
    const takeAll = (): void => {
      for (const limiter of limiters) while (limiter.spendSync(one).allowed) taken++;
    };
    takeAll();
    for (const [i, limiter] of limiters.entries()) {
      limiter.replace(setOf(quick));
      takeAll();
      expect(taken).toBeLessThanOrEqual(1000 + 5 + (i + 1) * 1000);
    }
  });

  test('and not each time one process changes back and forth', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), old);
    let taken = 0;
    for (let turn = 0; turn < 10; turn++) {
      for (const numbers of [old, quick]) {
        limiter.replace(setOf(numbers));
        while (limiter.spendSync(one).allowed) taken++;
      }
    }
    expect(taken).toBeLessThanOrEqual(2 * 1000 + 5);
  });
});

describe('a debt stays as it is', () => {
  test('after one change has cut it once, however often a process with the old numbers spends', () => {
    const time = new FakeTime();
    const [old, raised] = twoOn(memoryStore({ time }), daily);
    old.spendSync(all());
    raised.replace(setOf(quick));
    let allowed = 0;
    for (let second = 0; second < 100; second++) {
      for (const limiter of [old, raised]) if (limiter.spendSync(all()).allowed) allowed++;
      time.advance(1000);
    }
    // The cut frees the bucket after a second. Then the old process takes a whole day of it, and that stays.
    expect(allowed).toBe(1);
    expect(raised.checkSync(all(1)).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when the limit was lowered', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), { burst: 1000, count: 100, period: '1s' });
    limiter.spendSync(all(1000));
    limiter.replace(setOf({ burst: 100, count: 100, period: '1s' }));
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 9010, resetAfterMs: 10_000 });
  });

  test('when another process left a longer one than the numbers before the change allow', () => {
    const store = memoryStore({ time: new FakeTime() });
    const twoDaysTicks = 2 * 86_400 * 16_000_000;
    callsOf(store).charge([{ limit: 'Orders', id: '7', incrementTicks: twoDaysTicks, capTicks: twoDaysTicks }]);
    const limiter = limiterOn(store, daily);
    limiter.replace(setOf(quick));
    expect(limiter.checkSync(all(1)).resetAfterMs).toBe(2 * 86_400_000);
  });

  test('when the numbers before came from a function', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limits = { Orders: { key: accountId(), ...daily } };
    const limiter = createLimiter({ limits, overrides: () => undefined, store, log: false });
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    expect(limiter.checkSync(all(1)).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when a function gives the numbers after the change', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    limiter.replace({ ...setOf(quick), overrides: () => undefined });
    expect(limiter.spendSync(all(1)).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when the store can not answer, because its buckets are unknown', async () => {
    const store = new MapStore(new FakeTime());
    const limiter = limiterOn(store, daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    let caps = 0;
    const cap = async () => void caps++;
    Object.assign(store, { cap, spend: () => Promise.reject(new Error('connection lost')) });
    expect((await limiter.spend(all(1))).failure?.policy).toBe('local');
    expect(caps).toBe(0);
  });

  test('when the id was unlimited, or the limit did not exist', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, daily, { '7': 'unlimited' });
    void callsOf(store).charge([{ limit: 'Orders', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]);
    void callsOf(store).charge([{ limit: 'New', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]);
    limiter.replace({ limits: { ...setOf(quick).limits, New: { key: accountId(), ...quick } } });
    expect(limiter.checkSync(all(1)).retryAfterMs).toBeGreaterThan(60_000);
    expect(limiter.checkSync([{ limit: 'New', id: '7' }]).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('when the store has no cap()', async () => {
    const store = new MapStore(new FakeTime());
    Object.assign(store, { cap: undefined });
    const limiter = limiterOn(store, daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ allowed: false });
    expect((await limiter.spend(all(1))).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('when the store fails to cut it, and the decision is the denial', async () => {
    const store = new MapStore(new FakeTime());
    Object.assign(store, { cap: () => Promise.reject(new Error('read only')) });
    const limiter = limiterOn(store, daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ outcome: 'denied', failure: undefined });
  });
});
