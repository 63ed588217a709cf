import { accountId, createLimiter, everyone, ipAddress, memoryStore, OverrideList, type Override } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { until } from '@sluice/core/until';
import { describe, expect, test } from 'vitest';
import { MapStore } from '../testing/map-store.ts';
import { all, daily, limiterOn, quick, setOf } from './raised.ts';
import type { LimitNumbers } from '../../src/rule/rate.ts';

const modest = all(1).map((entry) => ({ ...entry, share: 0.4 }));

describe('a debt that is longer than the raised limit allows is cut', () => {
  test('for an id in a network with an override', () => {
    const time = new FakeTime();
    const limits = { Requests: { key: ipAddress(), ...daily } };
    const limiter = createLimiter({ limits, store: memoryStore({ time }), log: false });
    const five = [{ limit: 'Requests', id: '10.1.2.3', cost: 5 }] as const;
    limiter.spendSync(five);
    limiter.replace({ limits, overrides: { Requests: { '10.0.0.0/8': quick } } });
    expect(limiter.checkSync(five)).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('for all clients together, while another limit borrows from a pool', () => {
    const time = new FakeTime();
    const borrow = { from: 'Pool', ceiling: quick } as const;
    const setOfAll = (numbers: LimitNumbers) => ({
      limits: {
        All: { key: everyone(), ...numbers },
        Users: borrowLimit({ key: accountId(), ...quick, borrow }),
        Pool: { key: everyone(), ...quick },
      },
    });
    const limiter = createLimiter({ ...setOfAll(daily), store: memoryStore({ time }), log: false });
    const five = [{ limit: 'All', id: 'everyone', cost: 5 }] as const;
    limiter.spendSync(five);
    limiter.replace(setOfAll(quick));
    expect(limiter.checkSync(five)).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('also if a lower limit with a shorter debt came between', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    for (const numbers of [{ burst: 1, count: 1, period: '12h' }, quick]) limiter.replace(setOf(numbers));
    expect(limiter.checkSync(all())).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('also if its limit was removed between', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace({ limits: { Others: { key: accountId(), ...quick } } });
    limiter.replace(setOf(quick));
    expect(limiter.checkSync(all())).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('by a check as well as by a spend', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    expect(limiter.checkSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('by a request with a share, which cuts it to that of an empty bucket and not to its share', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    expect(limiter.spendSync(modest)).toMatchObject({ allowed: false, retryAfterMs: 800 });
    expect(limiter.checkSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('by no request with a share that is full, while the bucket is not', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.replace(setOf(quick));
    limiter.spendSync(all(4));
    expect(limiter.spendSync(modest)).toMatchObject({ allowed: false, retryAfterMs: 600 });
    expect(limiter.checkSync(all(1)).remaining).toBe(1);
  });

  test('on a store that answers by promises', async () => {
    const time = new FakeTime();
    const limiter = limiterOn(new MapStore(time), daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
    time.advance(200);
    expect((await limiter.spend(all(1))).allowed).toBe(true);
  });

  test('but not what processes with leases let through beyond a limit, at the old numbers and at the new ones', () => {
    const store = memoryStore({ time: new FakeTime() });
    const leased = (numbers: LimitNumbers) => setOf({ ...numbers, burst: 10, overshoot: 0.5 } as LimitNumbers);
    const limiter = createLimiter({ ...leased({ count: 1, period: '1h' }), store, log: false });
    const hourTicks = 3600 * 16_000_000;
    callsOf(store).charge([{ limit: 'Orders', id: '7', incrementTicks: 15 * hourTicks, capTicks: 15 * hourTicks }]);
    limiter.replace(leased({ count: 60, period: '1h' }));
    expect(limiter.checkSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 6 * 60_000 });
    limiter.replace(leased({ count: 120, period: '1h' }));
    callsOf(store).charge([{ limit: 'Orders', id: '8', incrementTicks: hourTicks / 8, capTicks: hourTicks / 8 }]);
    expect(limiter.checkSync(all(1, '8'))).toMatchObject({ allowed: false, retryAfterMs: 3 * 60_000 });
  });

  test('after two changes, by the first of them', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(setOf(quick));
    limiter.replace(setOf(quick, { other: 'unlimited' }));
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });
});

describe('a raise is remembered', () => {
  const fast = setOf(quick);

  test.each([
    [7, 200],
    [8, 86_399_200],
  ])('over seven further changes of overrides: after %i the wait is %i ms', (changes, retryAfterMs) => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(fast);
    for (let i = 0; i < changes; i++) limiter.replace(setOf(quick, { [`other-${i}`]: { count: 7, period: '1s' } }));
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs });
  });

  test('over any number of further changes without overrides that raise nothing', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(fast);
    for (let i = 0; i < 20; i++) limiter.replace(fast);
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('over several steps: a debt from the first numbers is cut to the last', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    for (const period of ['12h', '1h', '1s']) limiter.replace(setOf({ count: 5, period }));
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('when it is the second, after the first has cut the bucket', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    limiter.spendSync(all());
    limiter.replace(setOf({ count: 5, period: '1h' }));
    expect(limiter.spendSync(all(1)).resetAfterMs).toBe(3_600_000);
    limiter.replace(fast);
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('for a single id beside others that were not raised', () => {
    const overrides = { '7': daily, '8': daily };
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, overrides);
    limiter.spendSync([...all(), ...all(5, '8')]);
    limiter.replace(setOf(quick, { ...overrides, '7': quick }));
    expect(limiter.spendSync(all(1)).retryAfterMs).toBe(200);
    expect(limiter.spendSync(all(1, '8')).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('for an id whose slow override was removed, and for one that got a faster override', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), { count: 5, period: '1h' }, { '7': daily });
    limiter.spendSync([...all(), ...all(5, '8')]);
    limiter.replace(setOf({ count: 5, period: '1h' }, { '8': quick }));
    expect(limiter.spendSync(all(1)).resetAfterMs).toBe(3_600_000);
    expect(limiter.spendSync(all(1, '8')).retryAfterMs).toBe(200);
  });

  test('for the limit, but not for an id that had a faster override and lost it', () => {
    const wide = { count: 5, period: '1s', burst: 100 } as const;
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily, { '7': wide });
    limiter.spendSync(all(100));
    limiter.replace(fast);
    expect(limiter.spendSync(all(1)).resetAfterMs).toBe(20_000);
  });

  test('for an override with an end by the clock of its limiter, beside one with the same list whose clock is later', () => {
    const { limits } = setOf(quick);
    const overrides = new OverrideList();
    overrides.add('Orders', limits.Orders, '7', until('2027-01-31', daily));
    const limiterAt = (day: string) => {
      const time = new FakeTime(Date.parse(day));
      return createLimiter({ limits, overrides, store: memoryStore({ time }), time, log: false });
    };
    const limiter = limiterAt('2027-01-30');
    limiter.spendSync(all());
    limiterAt('2027-02-01');
    limiter.replace({ limits });
    expect(limiter.spendSync(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('for a network, but not for another network beside it', () => {
    const limits = { Requests: { key: ipAddress(), ...quick } };
    const store = memoryStore({ time: new FakeTime() });
    const before = { '10.0.0.0/8': daily, '2001:db8::/32': daily };
    const limiter = createLimiter({ limits, overrides: { Requests: before }, store, log: false });
    const from = (id: string, cost: number) => [{ limit: 'Requests' as const, id, cost }];
    limiter.spendSync([...from('10.1.2.3', 5), ...from('2001:db8::1', 5)]);
    limiter.replace({ limits, overrides: { Requests: { ...before, '10.1.0.0/16': quick } } });
    expect(limiter.spendSync(from('10.1.2.3', 1)).retryAfterMs).toBe(200);
    expect(limiter.spendSync(from('2001:db8::1', 1)).retryAfterMs).toBeGreaterThan(3_600_000);
    limiter.replace({ limits });
    expect(limiter.spendSync(from('2001:db8::1', 1)).retryAfterMs).toBe(200);
  });
});

describe('a raise among many overrides', () => {
  const many = (numbers: LimitNumbers): Record<string, Override> =>
    Object.fromEntries(Array.from({ length: 12_000 }, (_, id) => [String(id), numbers]));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const last = '11999';

  test('takes effect at once for the last of them, before all are compared', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, many(daily));
    limiter.spendSync(all(5, last));
    limiter.replace(setOf(quick, many(quick)));
    expect(limiter.spendSync(all(1, last)).retryAfterMs).toBe(200);
  });

  test('is remembered when all are compared, also after a further change in between', async () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, many(daily));
    limiter.spendSync([...all(5, '0'), ...all(5, last), ...all(5, 'free')]);
    limiter.replace(setOf(quick, { ...many(quick), free: 'unlimited' }));
    limiter.replace(setOf(quick, many({ count: 50, period: '1s', burst: 5 })));
    for (let i = 0; i < 20; i++) await turn();
    expect(limiter.spendSync(all(1, '0')).retryAfterMs).toBe(20);
    expect(limiter.spendSync(all(1, last)).retryAfterMs).toBe(20);
  });

  test('is not assumed for a new limit, nor after numbers that a function returned', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, quick, many(daily));
    void callsOf(store).charge([{ limit: 'New', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]);
    void callsOf(store).charge([{ limit: 'Orders', id: 'other', incrementTicks: 1e12, capTicks: 1e12 }]);
    limiter.replace({
      ...setOf(quick, many(quick)),
      limits: { ...setOf(quick).limits, New: setOf(quick).limits.Orders },
    });
    expect(limiter.checkSync([{ limit: 'New', id: '7' }]).retryAfterMs).toBeGreaterThan(60_000);
    limiter.replace({ ...setOf(daily), overrides: () => undefined });
    limiter.replace(setOf(quick));
    expect(limiter.checkSync(all(1, 'other')).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('does not cut the bucket of an unlimited id that another process has charged', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, quick, { ...many(daily), free: 'unlimited' });
    void callsOf(store).charge([{ limit: 'Orders', id: 'free', incrementTicks: 1e12, capTicks: 1e12 }]);
    limiter.replace(setOf(quick, many(quick)));
    expect(limiter.checkSync(all(1, 'free')).retryAfterMs).toBeGreaterThan(60_000);
  });
});
