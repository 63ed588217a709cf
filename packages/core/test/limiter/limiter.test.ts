import { createLimiter, memoryStore, type Decision, type Store } from '@sluice/core';
import type { StoreRefund } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected } from '../support/thrown.ts';

const numbers = { Orders: { count: 5, period: '1s' } };
const orders = (cost?: number) => [{ limit: 'Orders', id: '7', cost }];

test('one bucket through time', () => {
  const { limiter, time } = limiterOnFakeTime({ Orders: { burst: 3, count: 10, period: '1s' } });
  const timeline: [advanceMs: number, cost: number, figures: Partial<Decision>][] = [
    [0, 1, { outcome: 'allowed', remaining: 2, retryAfterMs: 0, resetAfterMs: 100 }],
    [0, 2, { outcome: 'allowed', remaining: 0, retryAfterMs: 0, resetAfterMs: 300 }],
    [0, 1, { outcome: 'denied', remaining: 0, retryAfterMs: 100, resetAfterMs: 300 }],
    [99.999, 1, { outcome: 'denied', remaining: 0, retryAfterMs: 0.001, resetAfterMs: 200.001 }],
    [0.001, 1, { outcome: 'allowed', remaining: 0, retryAfterMs: 0, resetAfterMs: 300 }],
    [50, 3, { outcome: 'denied', remaining: 0, retryAfterMs: 250, resetAfterMs: 250 }],
    [50, 0, { outcome: 'allowed', remaining: 1, retryAfterMs: 0, resetAfterMs: 200 }],
    [200, 3, { outcome: 'allowed', remaining: 0, retryAfterMs: 0, resetAfterMs: 300 }],
    [86_400_000, 1, { outcome: 'allowed', remaining: 2, retryAfterMs: 0, resetAfterMs: 100 }],
  ];
  for (const [advanceMs, cost, figures] of timeline) {
    time.advance(advanceMs);
    expect(limiter.spendSync(orders(cost))).toMatchObject({ limit: 'Orders', id: '7', ...figures });
  }
});

test('a denied request does not put off the next one, however often it knocks', () => {
  const { limiter, time } = limiterOnFakeTime(numbers);
  limiter.spendSync(orders(5));
  for (let i = 0; i < 199; i++) {
    expect(limiter.spendSync(orders()).allowed).toBe(false);
    time.advance(1);
  }
  time.advance(1);
  expect(limiter.spendSync(orders()).allowed).toBe(true);
});

test('check decides as spend would, and takes nothing', () => {
  const { limiter } = limiterOnFakeTime(numbers);
  expect(limiter.checkSync(orders(5))).toMatchObject({
    allowed: true,
    remaining: 5,
    results: [{ cost: 5, spent: 0 }],
  });
  limiter.spendSync(orders(5));
  expect(limiter.checkSync(orders())).toMatchObject({ outcome: 'denied', retryAfterMs: 200, resetAfterMs: 1000 });
});

test('ids do not touch each other', () => {
  const { limiter } = limiterOnFakeTime(numbers);
  limiter.spendSync(orders(5));
  expect(limiter.spendSync([{ limit: 'Orders', id: '07' }]).remaining).toBe(4);
});

describe('charge', () => {
  test('takes tokens whether they fit or not, and returns the state of the bucket', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await limiter.charge(orders(3))).toEqual([
      {
        limit: 'Orders',
        id: '7',
        remaining: 2,
        resetAfterMs: 600,
        burst: 5,
        count: 5,
        periodMs: 1000,
        overridden: false,
      },
    ]);
    expect(await limiter.charge(orders())).toMatchObject([{ remaining: 1 }]);
    expect(await limiter.charge(orders(3))).toMatchObject([{ remaining: 0, resetAfterMs: 1000 }]);
  });

  test('never takes or gives more than a whole bucket', async () => {
    const inner = memoryStore();
    const asked: unknown[] = [];
    const store: Store = {
      traits: { answersAtOnce: true },
      run: (operation) => {
        asked.push((operation as { batch: readonly StoreRefund[] }).batch[0]?.incrementTicks);
        return inner.run(operation);
      },
      close: () => inner.close(),
    };
    const limiter = createLimiter({ limits: accountLimits(numbers), store });
    for (const call of ['charge', 'refund'] as const) await limiter[call](orders(Number.MAX_SAFE_INTEGER));
    expect(asked).toEqual([16_000_000, 16_000_000]);
  });

  test('of more than the burst empties the bucket, no more', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await limiter.charge(orders(Number.MAX_SAFE_INTEGER))).toMatchObject([{ remaining: 0, resetAfterMs: 1000 }]);
  });
});

describe('reset', () => {
  test('makes buckets full again, and no others', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const other = [{ limit: 'Orders', id: '8', cost: 5 }];
    limiter.spendSync(orders(5));
    limiter.spendSync(other);
    expect(await limiter.reset([{ limit: 'Orders', id: '7' }])).toBeUndefined();
    expect(limiter.checkSync(orders(5))).toMatchObject({ allowed: true, remaining: 5 });
    expect(limiter.checkSync(other).allowed).toBe(false);
  });

  test('of a bucket that is full does nothing', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await limiter.reset([{ limit: 'Orders', id: '7' }])).toBeUndefined();
  });

  test('needs a limit that there is', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect((await rejected(() => limiter.reset([{ limit: 'Order', id: '7' }]))).code).toBe('ERR_UNKNOWN_LIMIT');
  });
});

describe('close', () => {
  test('makes every later call the error ERR_CLOSED', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await limiter.close()).toBeUndefined();
    const calls = [
      () => limiter.spend(orders()),
      () => limiter.spend([]),
      () => limiter.check(orders()),
      () => limiter.charge(orders()),
      () => limiter.refund(orders()),
      () => limiter.reset([{ limit: 'Orders', id: '7' }]),
      async () => limiter.replace({ limits: accountLimits(numbers) }),
    ];
    for (const call of calls) {
      expect(await rejected(call)).toMatchObject({
        code: 'ERR_CLOSED',
        message: 'The limiter is closed. Make a new one with createLimiter().',
      });
    }
  });

  test('twice does nothing more', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await Promise.all([limiter.close(), limiter.close()])).toEqual([undefined, undefined]);
  });
});

test('the store and its status can be seen', () => {
  const { limiter, store } = limiterOnFakeTime(numbers);
  expect(limiter.store).toBe(store);
  expect(limiter.status()).toMatchObject({ state: 'up', outages: 0 });
});

test('it works on the process’s own clock and its own store', () => {
  const limiter = createLimiter({ limits: accountLimits({ Orders: { count: 1, period: '1d' } }) });
  expect([1, 2].map(() => limiter.spendSync(orders()).allowed)).toEqual([true, false]);
});

test('limiters of other stores do not touch each other', () => {
  const make = () => createLimiter({ limits: accountLimits(numbers), store: memoryStore() });
  const [one, other] = [make(), make()];
  one.spendSync(orders(5));
  expect(other.spendSync(orders(5)).allowed).toBe(true);
});
