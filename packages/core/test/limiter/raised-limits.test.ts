import {
  accountId,
  createLimiter,
  ipAddress,
  memoryStore,
  type Limiter,
  type LimitNumbers,
  type Override,
  type Store,
} from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../support/limiter-on-fake-time.ts';
import { MapStore } from '../testing/map-store.ts';

const daily: LimitNumbers = { count: 5, period: '24h' };
const quick: LimitNumbers = { count: 5, period: '1s' };
const all = (cost = 5, id = '7') => [{ limit: 'Orders' as const, id, cost }];

function setOf(numbers: LimitNumbers, overrides: Record<string, Override> = {}) {
  return { limits: { Orders: { key: accountId(), ...numbers } }, overrides: { Orders: overrides } };
}

function limiterOn(store: Store, numbers: LimitNumbers, overrides?: Record<string, Override>): Limiter {
  return createLimiter({ ...setOf(numbers, overrides), store, log: false });
}

/** Two processes on one store, as far as the store can tell. */
function twoOn(store: Store, numbers: LimitNumbers): [Limiter, Limiter] {
  const seenBySecond = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return [limiterOn(store, numbers), limiterOn(seenBySecond, numbers)];
}

describe('a debt that is longer than the raised limit allows is cut', () => {
  test('for an id that a network gives other numbers', () => {
    const time = new FakeTime();
    const limits = { Requests: { key: ipAddress(), ...daily } };
    const limiter = createLimiter({ limits, store: memoryStore({ time }), log: false });
    const five = [{ limit: 'Requests', id: '10.1.2.3', cost: 5 }] as const;
    atOnce(limiter.spend(five));
    limiter.replace({ limits, overrides: { Requests: { '10.0.0.0/8': quick } } });
    expect(atOnce(limiter.check(five))).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('by a check as well as by a spend', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    atOnce(limiter.spend(all()));
    limiter.replace(setOf(quick));
    expect(atOnce(limiter.check(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('on a store that answers by promises, too', async () => {
    const time = new FakeTime();
    const limiter = limiterOn(new MapStore(time), daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ allowed: false, retryAfterMs: 200 });
    time.advance(200);
    expect((await limiter.spend(all(1))).allowed).toBe(true);
  });

  test('after two changes, by the first of them', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    atOnce(limiter.spend(all()));
    limiter.replace(setOf(quick));
    limiter.replace(setOf(quick, { other: 'unlimited' }));
    expect(atOnce(limiter.spend(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });
});

describe('a debt stays as it is', () => {
  test('after it was cut once by a change: a process with the old numbers can not be undone again and again', () => {
    const time = new FakeTime();
    const [old, raised] = twoOn(memoryStore({ time }), daily);
    atOnce(old.spend(all()));
    raised.replace(setOf(quick));
    let allowed = 0;
    for (let second = 0; second < 100; second++) {
      for (const limiter of [old, raised]) if (atOnce(limiter.spend(all())).allowed) allowed++;
      time.advance(1000);
    }
    // The cut frees the bucket after a second. Then the old process takes a whole day of it, and that stays.
    expect(allowed).toBe(1);
    expect(atOnce(raised.check(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when the limit was lowered', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), { burst: 1000, count: 100, period: '1s' });
    atOnce(limiter.spend(all(1000)));
    limiter.replace(setOf({ burst: 100, count: 100, period: '1s' }));
    expect(atOnce(limiter.spend(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 9010, resetAfterMs: 10_000 });
  });

  test('when another process left a longer one than the numbers before the change allow', () => {
    const store = memoryStore({ time: new FakeTime() });
    const twoDaysTicks = 2 * 86_400 * 16_000_000;
    store.charge([{ limit: 'Orders', id: '7', incrementTicks: twoDaysTicks, capTicks: twoDaysTicks }]);
    const limiter = limiterOn(store, daily);
    limiter.replace(setOf(quick));
    expect(atOnce(limiter.check(all(1))).resetAfterMs).toBe(2 * 86_400_000);
  });

  test('when the numbers before came from a function', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limits = { Orders: { key: accountId(), ...daily } };
    const limiter = createLimiter({ limits, overrides: () => undefined, store, log: false });
    atOnce(limiter.spend(all()));
    limiter.replace(setOf(quick));
    expect(atOnce(limiter.check(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when the id was unlimited, or the limit did not exist', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, daily, { '7': 'unlimited' });
    atOnce(store.charge([{ limit: 'Orders', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]));
    atOnce(store.charge([{ limit: 'New', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]));
    limiter.replace({ limits: { ...setOf(quick).limits, New: { key: accountId(), ...quick } } });
    expect(atOnce(limiter.check(all(1))).retryAfterMs).toBeGreaterThan(60_000);
    expect(atOnce(limiter.check([{ limit: 'New', id: '7' }])).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('when the store has no way to cut it', async () => {
    const store = new MapStore(new FakeTime());
    Object.assign(store, { cap: undefined });
    const limiter = limiterOn(store, daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ allowed: false });
    expect((await limiter.spend(all(1))).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('when the store fails to cut it: the denial is the answer', async () => {
    const store = new MapStore(new FakeTime());
    Object.assign(store, { cap: () => Promise.reject(new Error('read only')) });
    const limiter = limiterOn(store, daily);
    await limiter.spend(all());
    limiter.replace(setOf(quick));
    expect(await limiter.spend(all(1))).toMatchObject({ outcome: 'denied', failure: undefined });
  });
});

describe('a cut that failed is tried again at the next denial', () => {
  /** A limiter with a raised limit and a bucket in debt, on a store that cuts debts as it is told. */
  async function raisedOn(cap: Store['cap']) {
    const store = new MapStore(new FakeTime());
    const rightCap = store.cap.bind(store);
    Object.assign(store, { cap });
    const limiter = limiterOn(store, daily);
    await limiter.spend([...all(), { limit: 'Orders', id: '8', cost: 5 }]);
    limiter.replace(setOf(quick));
    return { limiter, repair: () => Object.assign(store, { cap: rightCap }) };
  }

  const quickDenial = { allowed: false, retryAfterMs: 200 };

  test.each<[string, Store['cap']]>([
    ['rejects', () => Promise.reject(new Error('read only'))],
    ['hangs', () => new Promise(() => undefined)],
    [
      'throws',
      () => {
        throw new Error('read only');
      },
    ],
  ])('of a store that %s', async (_how, cap) => {
    const { limiter, repair } = await raisedOn(cap);
    expect((await limiter.spend(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
    repair();
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
  });

  test('of a store that throws wrong use: the error reaches the caller', () => {
    const store = memoryStore({ time: new FakeTime() });
    const rightCap = store.cap.bind(store);
    Object.assign(store, {
      cap: () => {
        throw new Error('broken');
      },
    });
    const limiter = limiterOn(store, daily);
    atOnce(limiter.spend(all()));
    limiter.replace(setOf(quick));
    expect(() => limiter.spend(all(1))).toThrow('broken');
    Object.assign(store, { cap: rightCap });
    expect(atOnce(limiter.spend(all(1)))).toMatchObject(quickDenial);
  });

  test('for this bucket, while another one beside it was cut by another call', async () => {
    let calls = 0;
    const { limiter, repair } = await raisedOn(() => {
      calls += 1;
      return Promise.reject(new Error('read only'));
    });
    await limiter.spend(all(1, '8'));
    repair();
    expect(await limiter.spend(all(1, '8'))).toMatchObject(quickDenial);
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
    expect(calls).toBe(1);
  });

  test('once, however many denials of a bucket come while its cut is under way', async () => {
    const failed: ((cause: Error) => void)[] = [];
    const { limiter, repair } = await raisedOn(() => new Promise((_, reject) => failed.push(reject)));
    const denials = Promise.all(Array.from({ length: 20 }, () => limiter.spend(all(1))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(failed).toHaveLength(1);
    for (const reject of failed) reject(new Error('read only'));
    for (const denial of await denials) expect(denial).toMatchObject({ allowed: false, failure: undefined });
    repair();
    expect(await limiter.spend(all(1))).toMatchObject(quickDenial);
  });

  test('by the change whose cut failed, and not by an earlier change that has cut the bucket', async () => {
    const time = new FakeTime();
    const store = new MapStore(time);
    const rightCap = store.cap.bind(store);
    const [old, raised] = twoOn(store, daily);
    await old.spend(all());
    raised.replace(setOf(quick));
    await raised.spend(all(1));
    raised.replace(setOf({ count: 50, period: '1s', burst: 5 }));
    Object.assign(store, { cap: () => Promise.reject(new Error('read only')) });
    expect(await raised.spend(all(1))).toMatchObject({ allowed: false, resetAfterMs: 1000 });
    Object.assign(store, { cap: rightCap });
    await old.charge(all());
    expect((await raised.spend(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
  });
});

test('a cut needs no other call once it is done', async () => {
  const calls: string[] = [];
  const inner = new MapStore(new FakeTime());
  const store = new Proxy(inner, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(String(name));
        return Reflect.apply(value, target, args);
      };
    },
  });
  const limiter = limiterOn(store, daily);
  await limiter.spend(all());
  limiter.replace(setOf(quick));
  for (let turn = 0; turn < 3; turn++) await limiter.spend(all(1));
  expect(calls).toEqual(['spend', 'spend', 'cap', 'spend', 'spend', 'spend']);
});
