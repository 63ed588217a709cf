import {
  accountId,
  createLimiter,
  ipAddress,
  memoryStore,
  type Limiter,
  type LimitNumbers,
  type Override,
  type Store,
  type StoreCap,
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

/** A limiter of another process on a store, as far as the store can tell. */
function anotherOn(store: Store, numbers: LimitNumbers): Limiter {
  const seenByOther = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return limiterOn(seenByOther, numbers);
}

function twoOn(store: Store, numbers: LimitNumbers): [Limiter, Limiter] {
  return [limiterOn(store, numbers), anotherOn(store, numbers)];
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

describe('a raise is remembered', () => {
  const fast = setOf(quick);

  test('over any number of further changes', () => {
    const time = new FakeTime();
    const limiter = limiterOn(memoryStore({ time }), daily);
    atOnce(limiter.spend(all()));
    limiter.replace(fast);
    for (let i = 0; i < 20; i++) limiter.replace(setOf(quick, { [`other-${i}`]: { count: 7, period: '1s' } }));
    expect(atOnce(limiter.spend(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('of several steps that follow each other: a debt from the first numbers is cut to the last', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    atOnce(limiter.spend(all()));
    for (const period of ['12h', '1h', '1s']) limiter.replace(setOf({ count: 5, period }));
    expect(atOnce(limiter.spend(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('of a second raise, after the first has cut the bucket', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    atOnce(limiter.spend(all()));
    limiter.replace(setOf({ count: 5, period: '1h' }));
    expect(atOnce(limiter.spend(all(1))).resetAfterMs).toBe(3_600_000);
    limiter.replace(fast);
    expect(atOnce(limiter.spend(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 200 });
  });

  test('of a single id beside others that were not raised', () => {
    const overrides = { '7': daily, '8': daily };
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, overrides);
    atOnce(limiter.spend([...all(), ...all(5, '8')]));
    limiter.replace(setOf(quick, { ...overrides, '7': quick }));
    expect(atOnce(limiter.spend(all(1))).retryAfterMs).toBe(200);
    expect(atOnce(limiter.spend(all(1, '8'))).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('of an id whose slow override was removed, and of one that got a faster override', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), { count: 5, period: '1h' }, { '7': daily });
    atOnce(limiter.spend([...all(), ...all(5, '8')]));
    limiter.replace(setOf({ count: 5, period: '1h' }, { '8': quick }));
    expect(atOnce(limiter.spend(all(1))).resetAfterMs).toBe(3_600_000);
    expect(atOnce(limiter.spend(all(1, '8'))).retryAfterMs).toBe(200);
  });

  test('of the limit, but not for an id that had a faster override and lost it', () => {
    const wide = { count: 5, period: '1s', burst: 100 } as const;
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily, { '7': wide });
    atOnce(limiter.spend(all(100)));
    limiter.replace(fast);
    expect(atOnce(limiter.spend(all(1))).resetAfterMs).toBe(20_000);
  });

  test('of a network, but not for another network beside it', () => {
    const limits = { Requests: { key: ipAddress(), ...quick } };
    const store = memoryStore({ time: new FakeTime() });
    const before = { '10.0.0.0/8': daily, '2001:db8::/32': daily };
    const limiter = createLimiter({ limits, overrides: { Requests: before }, store, log: false });
    const from = (id: string, cost: number) => [{ limit: 'Requests' as const, id, cost }];
    atOnce(limiter.spend([...from('10.1.2.3', 5), ...from('2001:db8::1', 5)]));
    limiter.replace({ limits, overrides: { Requests: { ...before, '10.1.0.0/16': quick } } });
    expect(atOnce(limiter.spend(from('10.1.2.3', 1))).retryAfterMs).toBe(200);
    expect(atOnce(limiter.spend(from('2001:db8::1', 1))).retryAfterMs).toBeGreaterThan(3_600_000);
    limiter.replace({ limits });
    expect(atOnce(limiter.spend(from('2001:db8::1', 1))).retryAfterMs).toBe(200);
  });
});

describe('a raise among many overrides', () => {
  const many = (numbers: LimitNumbers): Record<string, Override> =>
    Object.fromEntries(Array.from({ length: 12_000 }, (_, id) => [String(id), numbers]));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const last = '11999';

  test('takes effect at once for the last of them, before all are compared', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, many(daily));
    atOnce(limiter.spend(all(5, last)));
    limiter.replace(setOf(quick, many(quick)));
    expect(atOnce(limiter.spend(all(1, last))).retryAfterMs).toBe(200);
  });

  test('is remembered when all are compared, also if a further change came in between', async () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), quick, many(daily));
    atOnce(limiter.spend([...all(5, '0'), ...all(5, last), ...all(5, 'free')]));
    limiter.replace(setOf(quick, { ...many(quick), free: 'unlimited' }));
    limiter.replace(setOf(quick, many({ count: 50, period: '1s', burst: 5 })));
    for (let i = 0; i < 20; i++) await turn();
    expect(atOnce(limiter.spend(all(1, '0'))).retryAfterMs).toBe(20);
    expect(atOnce(limiter.spend(all(1, last))).retryAfterMs).toBe(20);
  });

  test('does not make a raise of a new limit, nor of numbers that a function gave', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, quick, many(daily));
    atOnce(store.charge([{ limit: 'New', id: '7', incrementTicks: 1e12, capTicks: 1e12 }]));
    atOnce(store.charge([{ limit: 'Orders', id: 'other', incrementTicks: 1e12, capTicks: 1e12 }]));
    limiter.replace({
      ...setOf(quick, many(quick)),
      limits: { ...setOf(quick).limits, New: setOf(quick).limits.Orders },
    });
    expect(atOnce(limiter.check([{ limit: 'New', id: '7' }])).retryAfterMs).toBeGreaterThan(60_000);
    limiter.replace({ ...setOf(daily), overrides: () => undefined });
    limiter.replace(setOf(quick));
    expect(atOnce(limiter.check(all(1, 'other'))).retryAfterMs).toBeGreaterThan(60_000);
  });

  test('beside an unlimited id: what another process left in its bucket stays while they are compared', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiter = limiterOn(store, quick, { ...many(daily), free: 'unlimited' });
    atOnce(store.charge([{ limit: 'Orders', id: 'free', incrementTicks: 1e12, capTicks: 1e12 }]));
    limiter.replace(setOf(quick, many(quick)));
    expect(atOnce(limiter.check(all(1, 'free'))).retryAfterMs).toBeGreaterThan(60_000);
  });
});

describe('a debt that only a spend-only meets is cut', () => {
  const slowly: LimitNumbers = { count: 2, period: '30d' };
  const fast: LimitNumbers = { count: 100, period: '1s', burst: 2 };
  const spendOnly = [{ limit: 'Orders', id: '7', mode: 'spend-only' }] as const;

  test('although nothing denies', () => {
    const time = new FakeTime();
    const limiter = limiterOn(memoryStore({ time }), slowly);
    atOnce(limiter.spend(all(2)));
    limiter.replace(setOf(fast));
    expect(atOnce(limiter.spend(spendOnly))).toMatchObject({ outcome: 'allowed', remaining: 0, resetAfterMs: 20 });
    time.advance(20);
    expect(atOnce(limiter.spend(spendOnly)).results[0]).toMatchObject({ spent: 1, remaining: 1 });
  });

  test('and what the same batch took from another limit is taken once', () => {
    const limits = (numbers: LimitNumbers) => ({
      Orders: { key: accountId(), ...numbers },
      Reads: { key: accountId(), ...daily },
    });
    const time = new FakeTime();
    const limiter = createLimiter({ limits: limits(slowly), store: memoryStore({ time }), log: false });
    atOnce(limiter.spend(all(2)));
    limiter.replace({ limits: limits(fast) });
    const reads = { limit: 'Reads', id: '7' } as const;
    expect(atOnce(limiter.spend([...spendOnly, reads])).results[1]).toMatchObject({ spent: 1, remaining: 4 });
    expect(atOnce(limiter.check([{ ...reads, cost: 0 }])).remaining).toBe(4);
    expect(atOnce(limiter.check([{ ...spendOnly[0], cost: 0 }])).resetAfterMs).toBe(20);
  });

  test('or a check of cost 0, which shows the new numbers at once', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), slowly);
    atOnce(limiter.spend(all(2)));
    limiter.replace(setOf(fast));
    expect(atOnce(limiter.check(all(0)))).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 20 });
  });

  test('while a charge leaves the bucket as empty as it is, and cuts nothing', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), slowly);
    atOnce(limiter.spend(all(2)));
    limiter.replace(setOf(fast));
    expect(atOnce(limiter.charge(all(1)))[0]).toMatchObject({ remaining: 0, resetAfterMs: 30 * 86_400_000 });
    expect(atOnce(limiter.check(all(1)))).toMatchObject({ allowed: false, retryAfterMs: 10 });
  });
});

describe('the old burst passes once more for each process that has learned of a raise', () => {
  const old: LimitNumbers = { count: 1000, period: '1d' };
  const one = [{ limit: 'Orders', id: '7' }] as const;

  test('while others still use the old numbers', () => {
    const store = memoryStore({ time: new FakeTime() });
    const limiters = Array.from({ length: 10 }, () => anotherOn(store, old));
    let taken = 0;
    const takeAll = (): void => {
      for (const limiter of limiters) while (atOnce(limiter.spend(one)).allowed) taken++;
    };
    takeAll();
    for (const [i, limiter] of limiters.entries()) {
      limiter.replace(setOf(quick));
      takeAll();
      expect(taken).toBeLessThanOrEqual(1000 + 5 + (i + 1) * 1000);
    }
  });

  test('and not once for each time when one process goes back and forth', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), old);
    let taken = 0;
    for (let turn = 0; turn < 10; turn++) {
      for (const numbers of [old, quick]) {
        limiter.replace(setOf(numbers));
        while (atOnce(limiter.spend(one)).allowed) taken++;
      }
    }
    expect(taken).toBeLessThanOrEqual(2 * 1000 + 5);
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

  test('when a function gives the numbers after the change', () => {
    const limiter = limiterOn(memoryStore({ time: new FakeTime() }), daily);
    atOnce(limiter.spend(all()));
    limiter.replace(setOf(quick));
    limiter.replace({ ...setOf(quick), overrides: () => undefined });
    expect(atOnce(limiter.spend(all(1))).retryAfterMs).toBeGreaterThan(3_600_000);
  });

  test('when the store can not answer: its buckets were not met', async () => {
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

describe('decisions on a bucket while its cut is in progress', () => {
  test('wait for it and are made again: none reports the old wait', async () => {
    const store = new MapStore(new FakeTime());
    const rightCap = store.cap.bind(store);
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    Object.assign(store, { cap: (debts: readonly StoreCap[]) => arrived.then(() => rightCap(debts)) });
    const limiter = limiterOn(store, daily);
    await limiter.spend([...all(), { limit: 'Orders', id: '8', cost: 5 }]);
    limiter.replace(setOf(quick));
    const denials = [limiter.spend(all(1)), limiter.check(all(1)), limiter.spend([...all(1), ...all(1, '8')])];
    await new Promise((resolve) => setImmediate(resolve));
    arrive();
    for (const denial of await Promise.all(denials))
      expect(denial).toMatchObject({ allowed: false, retryAfterMs: 200 });
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
