import { accountId, createLimiter, memoryStore, type Override } from '@sluice/core';
import type { Mode } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';
import type { LimitNumbers } from '../../src/rule/rate.ts';

/** Ten tokens, one a second, and a debt of up to five. */
const TEN: LimitNumbers = { burst: 10, count: 1, period: '1s', maxDebt: 5 };

function tokens(numbers: LimitNumbers, overrides?: Record<string, Override>) {
  const time = new FakeTime();
  const setOf = (given: LimitNumbers, other: Record<string, Override> = {}) => ({
    limits: { Tokens: { key: accountId(), ...given } },
    overrides: { Tokens: other },
  });
  const limiter = createLimiter({ ...setOf(numbers, overrides), store: memoryStore({ time }), time, log: false });
  return {
    time,
    limiter,
    setOf,
    spend: (cost = 1, id = '7', mode: Mode = 'check-and-spend') =>
      limiter.spendSync([{ limit: 'Tokens', id, cost, mode }]),
    look: (cost = 1, id = '7') => limiter.checkSync([{ limit: 'Tokens', id, cost }]),
    charge: async (cost: number, id = '7') => (await limiter.charge([{ limit: 'Tokens', id, cost }]))[0],
  };
}

describe('a charge', () => {
  test('takes the bucket below empty by at most maxDebt, and reports when it is full again', async () => {
    const { charge } = tokens(TEN);
    expect(await charge(12)).toMatchObject({ remaining: 0, resetAfterMs: 12_000 });
    expect(await charge(1)).toMatchObject({ remaining: 0, resetAfterMs: 13_000 });
    expect(await charge(100)).toMatchObject({ remaining: 0, resetAfterMs: 15_000 });
    expect(await charge(1)).toMatchObject({ resetAfterMs: 15_000 });
  });

  test('above burst and maxDebt takes both from a full bucket, and no more', async () => {
    expect(await tokens(TEN).charge(16)).toMatchObject({ resetAfterMs: 15_000 });
    expect(await tokens(TEN).charge(Number.MAX_SAFE_INTEGER)).toMatchObject({ resetAfterMs: 15_000 });
  });

  test.each([undefined, 0])('takes at most the tokens that are left with maxDebt %s', async (maxDebt) => {
    expect(await tokens({ ...TEN, maxDebt }).charge(12)).toMatchObject({ remaining: 0, resetAfterMs: 10_000 });
  });

  test('in a batch reports the whole tokens that it took, debt included', () => {
    const { spend, time } = tokens(TEN);
    expect(spend(8).results[0]).toMatchObject({ spent: 8, remaining: 2 });
    expect(spend(4, '7', 'charge').results[0]).toMatchObject({ allowed: true, spent: 4, remaining: 0 });
    time.advance(500);
    expect(spend(9, '7', 'charge').results[0]).toMatchObject({ spent: 3, resetAfterMs: 15_000 });
  });

  test('in a batch may cost as much as the burst and maxDebt together, and no more', async () => {
    expect(tokens(TEN).spend(15, '7', 'charge').results[0]).toMatchObject({ spent: 15 });
    const { message } = thrown(() => tokens(TEN).spend(16, '7', 'charge'));
    expect(message).toContain('must be at most the burst and maxDebt together, 15, but was 16');
    expect(thrown(() => tokens(TEN).spend(11)).message).toContain('must be at most the burst, 10, but was 11');
  });
});

describe('a request while the bucket is in debt', () => {
  test('is denied, and the wait includes the debt, exact to the microsecond', async () => {
    const { charge, look, spend, time } = tokens(TEN);
    await charge(15);
    expect(look()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 6000, resetAfterMs: 15_000 });
    expect(look(3)).toMatchObject({ retryAfterMs: 8000 });
    time.advance(5999.999);
    expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 0.001, remaining: 0 });
    time.advance(0.001);
    expect(spend()).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 10_000 });
  });

  test('of cost 0 passes, and a spend-only takes nothing', async () => {
    const { charge, spend } = tokens(TEN);
    await charge(15);
    expect(spend(0)).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 15_000 });
    expect(spend(1, '7', 'spend-only').results[0]).toMatchObject({ spent: 0, resetAfterMs: 15_000 });
  });

  test('never takes the bucket below empty: only a charge does', () => {
    const { spend } = tokens(TEN);
    expect(spend(10)).toMatchObject({ allowed: true, remaining: 0 });
    expect(spend(1)).toMatchObject({ allowed: false, retryAfterMs: 1000 });
  });

  test('of another id is not affected', async () => {
    const { charge, spend } = tokens(TEN);
    await charge(15);
    expect(spend(10, '8').allowed).toBe(true);
  });
});

test('the budget of docs/limits/debt.md: a charge of 70,000 denies a request of cost 500 for 30 minutes and 18 seconds', async () => {
  const { charge, look } = tokens({ burst: 20_000, count: 100_000, period: '1h', maxDebt: 50_000 });
  await charge(70_000);
  expect(look(500)).toMatchObject({ allowed: false, retryAfterMs: (30 * 60 + 18) * 1000 });
});

describe('a refund', () => {
  test('of a charge reduces the debt, once, and gives back no token that has refilled', async () => {
    const { spend, limiter, time, look } = tokens(TEN);
    spend(10);
    const charged = spend(5, '7', 'charge');
    time.advance(1000);
    expect(await limiter.refund(charged)).toMatchObject([{ resetAfterMs: 9000, remaining: 1 }]);
    expect(await limiter.refund(charged)).toEqual([]);
    expect(look().resetAfterMs).toBe(9000);
  });

  test('of a named bucket first reduces the debt', async () => {
    const { charge, limiter, look } = tokens(TEN);
    await charge(15);
    expect(await limiter.refund([{ limit: 'Tokens', id: '7', cost: 6 }])).toMatchObject([{ remaining: 1 }]);
    expect(look().resetAfterMs).toBe(9000);
    expect(await limiter.refund([{ limit: 'Tokens', id: '7', cost: 1e9 }])).toMatchObject([{ remaining: 10 }]);
  });
});

describe('an override', () => {
  const overrides: Record<string, Override> = {
    same: { burst: 20, count: 2, period: '1s' },
    own: { burst: 20, count: 2, period: '1s', maxDebt: 40 },
    never: { burst: 20, count: 2, period: '1s', maxDebt: 0 },
    free: 'unlimited',
    bad: 'blocked',
  };

  test.each([
    ['same', 12_500],
    ['own', 30_000],
    ['never', 10_000],
    ['other', 15_000],
  ])('has the maxDebt of its limit unless it has its own: %s', async (id, resetAfterMs) => {
    expect(await tokens(TEN, overrides).charge(1000, id)).toMatchObject({ remaining: 0, resetAfterMs });
  });

  test.each(['free', 'bad'])('without numbers has no debt: %s', async (id) => {
    const { limiter } = tokens(TEN, overrides);
    expect(await limiter.charge([{ limit: 'Tokens', id, cost: 5 }])).toEqual([]);
  });

  test('inherits a debt only as far as its bucket refills within ten years', async () => {
    const { charge } = tokens({ ...TEN, maxDebt: 1e8 }, { slow: { count: 1, period: '366d' } });
    expect((await charge(1e9, 'slow'))?.resetAfterMs).toBe(3652.5 * 86_400_000);
  });

  test('of a function may change maxDebt in the object that it returned', async () => {
    const numbers = { count: 10, period: '10s', maxDebt: 5 };
    const limiter = createLimiter({
      limits: { Tokens: { key: accountId(), count: 1, period: '1s' } },
      overrides: () => numbers,
      store: memoryStore({ time: new FakeTime() }),
      log: false,
    });
    const charged = async () => (await limiter.charge([{ limit: 'Tokens', id: '7', cost: 100 }]))[0]?.resetAfterMs;
    expect(await charged()).toBe(15_000);
    numbers.maxDebt = 8;
    expect(await charged()).toBe(18_000);
  });
});

describe('after a raise of the rate', () => {
  const fast: LimitNumbers = { burst: 10, count: 10, period: '1s', maxDebt: 5 };

  test('an old debt is cut to the maxDebt of the new numbers', async () => {
    const { charge, limiter, setOf, spend } = tokens(TEN);
    await charge(15);
    limiter.replace(setOf(fast));
    expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 600, resetAfterMs: 1500 });
  });

  test('an inherited debt of an override is cut too', async () => {
    const plan = { plan: { burst: 20, count: 2, period: '1s' } };
    const { charge, limiter, setOf, spend } = tokens(TEN, plan);
    await charge(25, 'plan');
    limiter.replace(setOf(TEN, { plan: { burst: 20, count: 20, period: '1s' } }));
    expect(spend(1, 'plan')).toMatchObject({ allowed: false, resetAfterMs: 1250 });
  });

  test('an old debt is cut although maxDebt alone was lowered in between', async () => {
    const { charge, limiter, setOf, spend } = tokens({ ...TEN, maxDebt: 50 });
    await charge(60);
    limiter.replace(setOf(TEN));
    limiter.replace(setOf(fast));
    expect(spend().resetAfterMs).toBe(1500);
  });

  test('a debt that the new numbers allow is not cut', async () => {
    const { charge, limiter, setOf, spend } = tokens(TEN);
    await charge(15);
    limiter.replace(setOf({ ...fast, maxDebt: 200 }));
    expect(spend().resetAfterMs).toBe(15_000);
  });
});
