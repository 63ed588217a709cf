import { accountId, createLimiter, everyone, type OverrideTable } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { LimitNumbers } from '../../src/rule/rate.ts';

const hourly = { count: 10, period: '1h' };
const quick = { count: 10, period: '1s' };

function setOf(numbers: LimitNumbers, ceiling = quick, overrides: OverrideTable = {}) {
  const borrow = { from: 'Pool', ceiling };
  const limits = {
    PerUser: borrowLimit({ key: accountId(), ...hourly, ...numbers, borrow }),
    Pool: { key: everyone(), count: 1000, period: '1s' },
  };
  return { limits, overrides };
}

function started(set: ReturnType<typeof setOf>) {
  const time = new FakeTime();
  const limiter = createLimiter({ ...set, time, log: false });
  const spend = (cost = 1) => limiter.spendSync([{ limit: 'PerUser', id: 'a', cost }]);
  return { limiter, time, spend };
}

describe('a client within its assured rate is not denied because of an old debt of its ceiling after a raise', () => {
  test('of the limit', () => {
    const { limiter, time, spend } = started(setOf(hourly, hourly));
    spend(10);
    limiter.replace(setOf(quick));
    expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 100 });
    time.advance(100);
    expect(spend().allowed).toBe(true);
  });

  test.each([
    ['of its override', {}],
    ['of an override that it had before', { PerUser: { a: { ...hourly, borrow: { ceiling: hourly } } } }],
  ])('%s', (_, before) => {
    const override = { PerUser: { a: { ...quick, borrow: { ceiling: quick } } } };
    const { limiter, time, spend } = started(setOf(hourly, hourly, before));
    spend(10);
    limiter.replace(setOf(hourly, hourly, override));
    expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 100 });
    time.advance(100);
    expect(spend().allowed).toBe(true);
  });

  test('when its id was blocked before', () => {
    const { limiter, spend } = started(setOf(quick, quick, { PerUser: { a: 'blocked' } }));
    expect(spend().blocked).toBe(true);
    limiter.replace(setOf(quick));
    expect(spend(10)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('while a long list of overrides is still being compared', () => {
    const listed = { PerUser: Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`x${i}`, hourly])) };
    const { limiter, time, spend } = started(setOf(hourly, hourly, listed));
    spend(10);
    limiter.replace(setOf(quick, quick, { PerUser: { ...listed.PerUser, y: quick } }));
    time.advance(100);
    spend();
    time.advance(100);
    expect(spend().allowed).toBe(true);
  });
});
